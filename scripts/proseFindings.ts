import { basename } from 'node:path'
import { nameWords, openingPatterns, wordPatterns, type ProsePattern } from './prosePatterns.ts'
import { readProse, type ProseSpan } from './proseText.ts'

export interface ProseFinding {
  readonly line: number
  readonly name: string
  readonly match: string
  readonly advice: string
}

/** Findings of one file, in the order of its lines. */
export function findProse(path: string, text: string): readonly ProseFinding[] {
  const { spans, names } = readProse(path, text)
  return [
    ...fileNameFindings(path),
    ...[...spans.flatMap(spanFindings), ...names.flatMap(identifierFindings)].toSorted((a, b) => a.line - b.line),
  ]
}

function spanFindings(span: ProseSpan): readonly ProseFinding[] {
  const text = span.text.replaceAll(/`[^`\n]*`/g, (code) => `${'`'.padEnd(code.length - 1, '_')}\``)
  const openings = sentences(text).flatMap(({ start, sentence }) =>
    sentence.trimEnd().endsWith('?')
      ? []
      : openingPatterns
          .filter(({ pattern }) => pattern.test(sentence))
          .map((pattern) => ({ pattern, index: start, match: sentence.slice(0, 40) })),
  )
  return [...openings, ...wordPatterns.flatMap((pattern) => everyMatch(pattern, text))].map((found) => ({
    line: span.line + (text.slice(0, found.index).match(/\n/g)?.length ?? 0),
    name: found.pattern.name,
    match: found.match.replaceAll(/\s+/g, ' ').trim(),
    advice: found.pattern.advice,
  }))
}

interface Found {
  readonly pattern: ProsePattern
  readonly index: number
  readonly match: string
}

function everyMatch(pattern: ProsePattern, text: string): readonly Found[] {
  if (!pattern.pattern.test(text)) return []
  const all = new RegExp(pattern.pattern.source, `${pattern.pattern.flags}g`)
  return [...text.matchAll(all)].map((match) => ({
    pattern,
    index: match.index,
    match: text.slice(Math.max(0, match.index - 20), match.index + match[0].length + 20),
  }))
}

/** A sentence starts at the text's beginning, after a full stop, and after the bar of a table. */
function sentences(text: string): readonly { readonly start: number; readonly sentence: string }[] {
  const starts = [...text.matchAll(/(?:^|[.!?]["')]?\s+|\|\s|\n\s*(?:[-*]|\d+\.)\s+|\n\s*\n)\s*(?=\S)/g)].map(
    (match) => match.index + match[0].length,
  )
  return starts.map((start, index) => ({
    start,
    sentence: text.slice(start, sentenceEnd(text, start, starts[index + 1])),
  }))
}

function sentenceEnd(text: string, start: number, next: number | undefined): number {
  const end = next ?? text.length
  const bar = text.indexOf('|', start)
  return bar === -1 ? end : Math.min(end, bar)
}

function identifierFindings({ name, line }: { readonly name: string; readonly line: number }): readonly ProseFinding[] {
  return wordsOf(name).flatMap((word) => nameFinding(word, name, line))
}

function fileNameFindings(path: string): readonly ProseFinding[] {
  return wordsOf(basename(path)).flatMap((word) => nameFinding(word, basename(path), 1))
}

function nameFinding(word: string, name: string, line: number): readonly ProseFinding[] {
  const advice = nameWords.get(word)
  return advice === undefined ? [] : [{ line, name: `name: ${word}`, match: name, advice: `name it by ${advice}` }]
}

function wordsOf(name: string): readonly string[] {
  return name
    .split(/(?<=[a-z\d])(?=[A-Z])|[^A-Za-z\d]+/)
    .map((word) => word.toLowerCase().replace(/(?<=[a-z]{2}[^s])s$/, ''))
}

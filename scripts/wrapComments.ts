import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

/*
 * Wraps paragraphs of comments that are wider than the code, where oxfmt does not: it wraps documentation comments
 * only.
 *
 *   node scripts/wrapComments.ts          writes
 *   node scripts/wrapComments.ts --check  names the lines that are too wide
 */

const width = 120
/** Indent and marker of a line comment, or of a line within a block comment. */
const commentLine = /^(?<lead>\s*(?:\/\/|\*(?!\/|\*)) )(?<text>\S.*)$/
/** A list, a table, a heading or a directive keeps its lines. */
const ownLine = /^(?:[-*|#] |\d+\. |```|@|oxlint|eslint|https?:\S+$)/

const isCheck = process.argv.includes('--check')
const files = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', 'src', 'packages', 'test', 'bench', 'scripts'],
  {
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((path) => /\.[jt]s$/.test(path) && !path.startsWith('test/fixtures/'))

for (const path of files) {
  const lines = readFileSync(path, 'utf8').split('\n')
  const wrapped = wrapLines(lines)
  if (wrapped.length === lines.length && wrapped.every((line, at) => line === lines[at])) continue
  if (isCheck) {
    process.stderr.write(`${path}: a comment is wider than ${width}: node scripts/wrapComments.ts\n`)
    process.exitCode = 1
  } else writeFileSync(path, wrapped.join('\n'))
}

function wrapLines(lines: readonly string[]): readonly string[] {
  const out: string[] = []
  let isDocumentation = false
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? ''
    isDocumentation ||= /^\s*\/\*\*/.test(line)
    const paragraph = isDocumentation ? [line] : paragraphAt(lines, at)
    out.push(...(isDocumentation ? paragraph : wrapParagraph(paragraph)))
    if (line.trimEnd().endsWith('*/')) isDocumentation = false
    at += paragraph.length
  }
  return out
}

/** The lines of one paragraph of a comment, or one other line. */
function paragraphAt(lines: readonly string[], at: number): readonly string[] {
  const first = commentLine.exec(lines[at] ?? '')?.groups
  const rest = lines.slice(at + 1)
  const end = rest.findIndex((line) => {
    const next = commentLine.exec(line)?.groups
    return next?.['lead'] !== first?.['lead'] || ownLine.test(next?.['text'] ?? '')
  })
  return first === undefined || ownLine.test(first['text'] ?? '')
    ? lines.slice(at, at + 1)
    : lines.slice(at, at + 1 + (end === -1 ? rest.length : end))
}

function wrapParagraph(paragraph: readonly string[]): readonly string[] {
  const { lead = '' } = commentLine.exec(paragraph[0] ?? '')?.groups ?? {}
  if (lead === '' || paragraph.every((line) => line.length <= width)) return paragraph
  const wrapped: string[] = []
  let current = ''
  for (const word of paragraph.flatMap((line) => line.slice(lead.length).split(' '))) {
    const longer = current === '' ? lead + word : `${current} ${word}`
    if (current !== '' && longer.length > width) {
      wrapped.push(current)
      current = lead + word
    } else current = longer
  }
  return [...wrapped, current]
}

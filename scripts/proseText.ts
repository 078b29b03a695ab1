/*
 * Cuts a source file into what people read: comments, string messages, text of a page, and the names in its code.
 * A scanner of one pass instead of a parser, because the whole repository has to be read in about a second.
 */

/** Text of one comment, message or paragraph. `line` is the 1-based line of its first character. */
export interface ProseSpan {
  readonly kind: 'comment' | 'message' | 'page'
  readonly line: number
  readonly text: string
}

export interface ProseSource {
  readonly spans: readonly ProseSpan[]
  readonly names: readonly { readonly name: string; readonly line: number }[]
}

export function readProse(path: string, text: string): ProseSource {
  if (path.endsWith('.md')) return { spans: pageSpans(text), names: [] }
  if (path.endsWith('.html')) return { spans: pageSpans(textOfHtml(text)), names: [] }
  if (/\.(?:ts|js|mjs|cjs)$/.test(path)) return scan(text, scriptSyntax)
  if (path.endsWith('.sql')) return { spans: scan(text, sqlSyntax).spans, names: [] }
  return { spans: joinComments(hashComments(text)), names: [] }
}

interface Syntax {
  readonly token: RegExp
  readonly names: boolean
}

/** A regular expression literal is recognised by what stands before it; a division follows a value. */
const scriptSyntax: Syntax = {
  token:
    /\/\/(?<line>[^\n]*)|\/\*(?<block>[\s\S]*?)\*\/|(?<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`)|(?<=(?:^|[(,=:[!&|?{};\n]|=>|return)[ \t]*)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*|(?<name>[A-Za-z_$][\w$]*)/g,
  names: true,
}

const sqlSyntax: Syntax = {
  token: /--(?<line>[^\n]*)|\/\*(?<block>[\s\S]*?)\*\/|(?<string>'(?:[^']|'')*')/g,
  names: false,
}

function scan(text: string, syntax: Syntax): ProseSource {
  const comments: ProseSpan[] = []
  const messages: ProseSpan[] = []
  const names = new Map<string, number>()
  const lineAt = lineCounter(text)
  for (const match of text.matchAll(syntax.token)) {
    const { line, block, string, name } = match.groups ?? {}
    if (line !== undefined) comments.push({ kind: 'comment', line: lineAt(match.index), text: line })
    else if (block !== undefined) comments.push({ kind: 'comment', line: lineAt(match.index), text: plainBlock(block) })
    else if (string !== undefined && isMessage(string))
      messages.push({ kind: 'message', line: lineAt(match.index), text: plainMessage(string) })
    else if (name !== undefined && syntax.names && !names.has(name)) names.set(name, lineAt(match.index))
  }
  const spans = [...joinComments(comments), ...messages].toSorted((a, b) => a.line - b.line)
  return { spans, names: [...names].map(([name, line]) => ({ name, line })) }
}

/** Matches arrive in order, so the count goes on from the last one instead of starting anew. */
function lineCounter(text: string): (index: number) => number {
  let line = 1
  let from = 0
  return (index) => {
    for (let next = text.indexOf('\n', from); next !== -1 && next < index; next = text.indexOf('\n', from)) {
      line++
      from = next + 1
    }
    return line
  }
}

function plainBlock(block: string): string {
  return block
    .split('\n')
    .map((line) => line.replace(/^\s*\*+ ?/, ' '))
    .join('\n')
}

/** Two words with a space between them; an identifier, a path or a format string is not a message. */
function isMessage(literal: string): boolean {
  return /[a-z']{2,},? [a-z`"']/i.test(literal) && !isSqlStatement(literal)
}

function isSqlStatement(literal: string): boolean {
  return /^.\s*(?:select|insert|update|delete|create|alter|drop|grant|revoke|with|set|begin|truncate)\s[^.]*$/i.test(
    literal,
  )
}

function plainMessage(literal: string): string {
  return literal.slice(1, -1).replaceAll(/\$\{[^{}]*\}/g, 'VALUE')
}

/** Line comments under each other are one text: a sentence may break anywhere. */
function joinComments(comments: readonly ProseSpan[]): readonly ProseSpan[] {
  const joined: ProseSpan[] = []
  for (const comment of comments) {
    const last = joined.at(-1)
    if (last !== undefined && endLine(last) + 1 === comment.line && !comment.text.includes('\n'))
      joined[joined.length - 1] = { ...last, text: `${last.text}\n${comment.text}` }
    else joined.push(comment)
  }
  return joined
}

function endLine(span: ProseSpan): number {
  return span.line + span.text.split('\n').length - 1
}

function hashComments(text: string): readonly ProseSpan[] {
  return text.split('\n').flatMap((line, index): readonly ProseSpan[] => {
    const comment = /(?:^|\s)#(?!!)(?<text>[^\n]*)$/.exec(line)?.groups?.['text']
    return comment === undefined ? [] : [{ kind: 'comment', line: index + 1, text: comment }]
  })
}

/** Elements within a sentence leave no gap; all other tags end a block. Line numbers stay the same. */
function textOfHtml(html: string): string {
  const newlines = (part: string): string => part.replaceAll(/[^\n]/g, '')
  return html
    .replaceAll(/<(script|style)\b[\s\S]*?<\/\1>/g, newlines)
    .replaceAll(/<\/?(?:a|b|code|em|i|span|strong)\b[^>]*>/g, newlines)
    .replaceAll(/^[ \t]+/gm, '')
    .replaceAll(/<[^>]*>/g, (tag) => `${newlines(tag)}\u0000`)
    .split('\n')
    .map((line) => (line.includes('\u0000') ? `> ${line.replaceAll('\u0000', ' ').trim()}` : line))
    .join('\n')
}

/** Fenced code, code in backticks and the targets of links are not prose. Each block of a page is a text of its own. */
function pageSpans(page: string): readonly ProseSpan[] {
  const spans: ProseSpan[] = []
  let open: ProseSpan | undefined
  let fenced = false
  for (const [index, line] of page.split('\n').entries()) {
    const fence = /^\s*(?:```|~~~)/.test(line)
    if (fence) fenced = !fenced
    const starts = /^\s*(?:#{1,6} |[-*] |\d+\. |>|\|)/.test(line)
    if (open !== undefined && (fence || starts || line.trim() === '')) {
      spans.push(open)
      open = undefined
    }
    if (fence || fenced || line.trim() === '') continue
    const plain = plainLine(line)
    open =
      open === undefined ? { kind: 'page', line: index + 1, text: plain } : { ...open, text: `${open.text}\n${plain}` }
  }
  return open === undefined ? spans : [...spans, open]
}

function plainLine(line: string): string {
  return line
    .replaceAll(/`[^`]*`/g, 'CODE')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .replaceAll(/https?:\/\/\S+/g, 'URL')
    .replace(/^\s*(?:#{1,6} |[-*] |\d+\. |> ?)/, '')
    .replaceAll(/\*\*|__/g, '')
    .replaceAll(/\s*\|\s*/g, ' | ')
}

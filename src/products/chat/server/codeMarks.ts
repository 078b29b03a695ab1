/* Markdown's code as far as a stream can tell: fences, and spans of code that end on their line (CommonMark 4.5 and 6.1). */

/** Follows a text piece by piece and tells which places are code. */
export interface CodeMarks {
  /** Text without marks and line breaks. */
  plain(text: string): void
  /** A run of backticks or tildes. */
  run(marks: string): void
  lineBreak(): void
  /** Whether what follows is code, by the rest of the text; undefined when that depends on text which is not here yet. */
  isCode(rest: string, hasEnded: boolean): boolean | undefined
}

interface Fence {
  readonly mark: string
  readonly length: number
}

const fenceMin = 3

/** Follows a Markdown text piece by piece, as it is streamed, to know which parts are code. */
export function createCodeMarks(): CodeMarks {
  let fence: Fence | undefined
  // The run that may have opened a span on this line, and the fence that it is if the line has no other run.
  let span = 0
  let opening: Fence | undefined
  let isLineStart = true
  // The line has the mark that closes the fence, and nothing after it yet.
  let isClosing = false
  return {
    plain(text) {
      if (/[^ \t>]/.test(text)) isLineStart = false
      if (/\S/.test(text)) isClosing = false
    },
    run(marks) {
      const [mark = ''] = marks
      const run = { mark, length: marks.length }
      if (fence !== undefined) isClosing = isLineStart && mark === fence.mark && run.length >= fence.length
      else if (isLineStart && run.length >= fenceMin) [opening, span] = [run, mark === '`' ? run.length : 0]
      else if (mark === '`') {
        // The text after the backticks of a fence has no backticks.
        if (opening?.mark === mark) opening = undefined
        span = span === 0 ? run.length : span === run.length ? 0 : span
      }
      isLineStart = false
    },
    lineBreak() {
      if (fence === undefined) fence = opening
      else if (isClosing) fence = undefined
      opening = undefined
      ;[span, isLineStart, isClosing] = [0, true, false]
    },
    isCode(rest, hasEnded) {
      if (fence !== undefined || opening?.mark === '~') return true
      if (span === 0) return false
      const [line = ''] = rest.split('\n', 1)
      const isWhole = hasEnded || line.length < rest.length
      for (const { 0: marks, index } of line.matchAll(/`+/g)) {
        const isCut = !isWhole && index + marks.length === line.length
        if (marks.length === span && !isCut) return true
        // Another run rules the fence out.
        if (!isCut) opening = undefined
      }
      return isWhole ? opening !== undefined : undefined
    },
  }
}

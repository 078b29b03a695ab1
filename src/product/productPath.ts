import { segmentNames } from '@tollbook/core/pathTemplate'
import type { FieldProblem } from '@tollbook/core/refusal'

const literal = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/
const variable = /^\{[A-Za-z_][A-Za-z0-9_]{0,63}\}$/

/** The text continues a sentence that begins with "the path". */
export function findPathProblem(path: string): string | undefined {
  const [first, ...segments] = path.split('/')
  if (first !== '' || segments.length === 0) return 'must begin with a slash'
  const wrong = segments.find((segment) => !literal.test(segment) && !variable.test(segment))
  if (wrong !== undefined)
    return `has the segment "${wrong}"; use letters, digits, ".", "_" and "-", or a name in braces such as {id}`
  const names = segmentNames(path)
  return new Set(names).size === names.length ? undefined : 'has one name in two segments'
}

export type ReadSegments =
  | { readonly ok: true; readonly values: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly problem: FieldProblem }

/**
 * Decodes each segment exactly once. Refuses a value that another program could read as a different path, because the
 * caller would pay for one resource and receive another.
 */
export function readSegments(path: string, sent: readonly string[]): ReadSegments {
  const values: [string, string][] = []
  for (const [index, name] of segmentNames(path).entries()) {
    const value = decodeSegment(sent[index] ?? '')
    if (value === undefined) return { ok: false, problem: { field: name, message: segmentExpected } }
    values.push([name, value])
  }
  return { ok: true, values: Object.fromEntries(values) }
}

const segmentExpected =
  'must be one segment of a path in UTF-8, percent-encoded once, with at most 255 characters as sent, and without slashes, dots alone, outer spaces and control characters'

// RFC 3986 also allows the semicolon in a segment, but some servers treat it as the end of the segment.
const sentForm = /^(?:[A-Za-z0-9._~!$&'()*+,=:@-]|%[0-9A-Fa-f]{2}){1,255}$/
const encodedAgain = /%[0-9A-Fa-f]{2}/

function decodeSegment(sent: string): string | undefined {
  if (sent.length > 255 || !sentForm.test(sent)) return undefined
  try {
    const value = decodeURIComponent(sent)
    const isPlain =
      value.trim() === value &&
      value !== '.' &&
      value !== '..' &&
      !/[/\\\p{Cc}]/u.test(value) &&
      !encodedAgain.test(value)
    return isPlain ? value : undefined
  } catch {
    // Invalid UTF-8 is a mistake of the caller, so report it as a problem.
    return undefined
  }
}

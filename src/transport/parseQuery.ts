import type { FieldProblem } from '@tollbook/core/refusal'

export type ParsedQuery =
  | { readonly ok: true; readonly values: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly problem: FieldProblem }

const parametersMax = 64

/**
 * Parses a query. Duplicate names, broken percent-encoding and invalid UTF-8 are errors. A lenient parser picks one of
 * two values, and another program may pick the other.
 */
export function parseQuery(query: string): ParsedQuery {
  const values = new Map<string, string>()
  const parts = query.split('&').filter((part) => part !== '')
  if (parts.length > parametersMax)
    return { ok: false, problem: { field: 'query', message: `must have at most ${parametersMax} parameters` } }
  for (const part of parts) {
    const cut = part.indexOf('=')
    const name = decode(cut === -1 ? part : part.slice(0, cut))
    const value = decode(cut === -1 ? '' : part.slice(cut + 1))
    if (name === undefined || value === undefined) {
      return { ok: false, problem: { field: 'query', message: 'must be percent-encoded UTF-8' } }
    }
    if (values.has(name)) return { ok: false, problem: { field: shownName(name), message: 'must be given once' } }
    values.set(name, value)
  }
  return { ok: true, values: Object.fromEntries(values) }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    // Return undefined, because malformed escapes are invalid input of the caller, and not a bug.
    return undefined
  }
}

/**
 * Returns the name, or a fixed text for a long name or one with unusual characters, because logs and pages show the
 * message.
 */
export function shownName(name: string): string {
  return /^[A-Za-z0-9_-]{1,40}$/.test(name) ? name : '(unknown name)'
}

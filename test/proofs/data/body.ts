/** A body as leaves that can be changed one by one, and back: JSON, the row of a CSV, or the texts of a feed. */
export interface Body {
  readonly leaves: readonly Leaf[]
  /** Lists, by their paths. */
  readonly lists: readonly (Leaf & { readonly value: readonly unknown[] })[]
  /** The body with other values at some paths; undefined takes a field away. */
  print(changes: ReadonlyMap<string, unknown>): string
}

export interface Leaf {
  /** `0.current_price`, `chart.result.0.meta.symbol`; the number of the column or of the text. */
  readonly path: string
  readonly value: unknown
}

export function bodyOf(text: string): Body {
  const first = text.trimStart()[0]
  if (first === '{' || first === '[') return jsonBody(JSON.parse(text))
  return first === '<' ? splitBody(text.split(/(?<=>)([^<>]+)(?=<)/), '') : csvBody(text)
}

function jsonBody(root: unknown): Body {
  return {
    leaves: leavesOf(root, ''),
    lists: listsOf(root, ''),
    print: (changes) => JSON.stringify(changed(root, '', changes)),
  }
}

function leavesOf(node: unknown, path: string): readonly Leaf[] {
  if (typeof node !== 'object' || node === null) return [{ path, value: node }]
  return Object.entries(node).flatMap(([key, child]) => leavesOf(child, join(path, key)))
}

function listsOf(node: unknown, path: string): Body['lists'] {
  if (typeof node !== 'object' || node === null) return []
  const inside = Object.entries(node).flatMap(([key, child]) => listsOf(child, join(path, key)))
  return Array.isArray(node) ? [{ path, value: node }, ...inside] : inside
}

function changed(node: unknown, path: string, changes: ReadonlyMap<string, unknown>): unknown {
  if (changes.has(path)) return changes.get(path)
  if (Array.isArray(node)) return node.map((child: unknown, at) => changed(child, join(path, String(at)), changes))
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, changed(child, join(path, key), changes)]))
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

function csvBody(text: string): Body {
  const [header = '', row = ''] = text.split('\r\n')
  const cells = splitBody(row.split(','), ',')
  return { ...cells, print: (changes) => `${header}\r\n${cells.print(changes)}\r\n` }
}

function writeText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function splitBody(parts: readonly string[], separator: string): Body {
  return {
    lists: [],
    leaves: parts.flatMap((value, at) => (value.trim() === '' ? [] : [{ path: String(at), value }])),
    print: (changes) =>
      parts.map((part, at) => (changes.has(String(at)) ? writeText(changes.get(String(at))) : part)).join(separator),
  }
}

import { createHash } from 'node:crypto'

/** One change of one file. */
export interface Mutant {
  /** Stays the same while the changed line and its neighbours stay the same, wherever they move in the file. */
  readonly id: string
  readonly file: string
  readonly line: number
  readonly operator: string
  readonly before: string
  readonly after: string
  /** The whole file with the change. */
  readonly text: string
  /** The change leaves a statement that ignores a promise, which the lint refuses. */
  readonly leavesPromise: boolean
}

export interface Change {
  readonly from: number
  readonly to: number
  readonly after: string
  readonly operator: string
  readonly leavesPromise?: boolean
}

/** The file with one change. Undefined when the change changes nothing. */
export function mutantOf(file: string, source: string, change: Change): Mutant | undefined {
  const { from, to, after, operator, leavesPromise = false } = change
  const before = source.slice(from, to)
  if (before === after) return undefined
  const start = source.lastIndexOf('\n', from - 1) + 1
  const end = source.indexOf('\n', to)
  const line = source.slice(start, end === -1 ? undefined : end)
  const identity = [file, operator, line.trim(), source.slice(start, from).trim(), after].join('\n')
  return {
    id: createHash('sha256').update(identity).digest('hex').slice(0, 12),
    file,
    line: source.slice(0, from).split('\n').length,
    operator,
    before,
    after,
    text: source.slice(0, from) + after + source.slice(to),
    leavesPromise,
  }
}

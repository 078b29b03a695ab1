import { assert } from '@tollbook/core/assert'

/** A route with the variable segments of a path, as sent. */
export interface FoundRoute<R> {
  readonly route: R
  readonly segments: readonly string[]
}

interface Pattern<R> {
  readonly route: R
  readonly expression: RegExp
  readonly rank: string
}

/**
 * Finds the route of a path. Paths are compared as they were sent, character by character: no decoding, no case
 * folding, no dot segments. `{name}` and `:name` stand for one segment, `*name` for all further ones. An exact path
 * wins over a pattern, and of two patterns the one whose first difference is a literal segment.
 */
export function createRouteTable<R extends { readonly path: string }>(
  routes: readonly R[],
): (path: string) => FoundRoute<R> | undefined {
  const exact = new Map<string, FoundRoute<R>>()
  const patterns = new Map<string, Pattern<R>>()
  for (const route of routes) {
    const kinds = route.path.split('/').map((text) => ({ text, kind: kindOf(text) }))
    const shape = kinds.map(({ text, kind }) => (kind === 'literal' ? text : expressions[kind])).join('/')
    assert(!exact.has(shape) && !patterns.has(shape), `the path ${route.path} is served once`)
    if (kinds.every(({ kind }) => kind === 'literal')) exact.set(route.path, { route, segments: [] })
    else {
      const source = kinds.map(({ text, kind }) =>
        kind === 'literal' ? text.replaceAll('.', String.raw`\.`) : expressions[kind],
      )
      const rank = kinds.map(({ kind }) => ranks[kind]).join('')
      patterns.set(shape, { route, rank, expression: new RegExp(`^${source.join('/')}$`) })
    }
  }
  const ordered = [...patterns.values()].sort((a, b) => (a.rank < b.rank ? -1 : 1))
  return (path) => {
    const found = exact.get(path)
    if (found !== undefined) return found
    for (const { route, expression } of ordered) {
      const [, ...segments] = expression.exec(path) ?? []
      if (segments.length > 0) return { route, segments }
    }
    return undefined
  }
}

const expressions = { one: '([^/]+)', rest: '(.+)' } as const
const ranks = { literal: '0', one: '1', rest: '2' } as const

function kindOf(segment: string): keyof typeof ranks {
  if (/^(?::\w+|\{\w+\})$/.test(segment)) return 'one'
  return /^\*\w+$/.test(segment) ? 'rest' : 'literal'
}

import Router from '@koa/router'
import { assert, assertPresent } from '@tollbook/core/assert'

export interface FoundRoute<R> {
  readonly route: R
  readonly segments: readonly string[]
}

/**
 * Creates a table that finds the route of a path. Paths are compared exactly as sent: no decoding, no case folding, no
 * dot segments. `{name}` and `:name` match one segment, and `*name` matches all further segments. An exact path is
 * preferred to a pattern. If two patterns match, the pattern with a literal segment at the first difference is
 * preferred.
 */
export function createRouteTable<R extends { readonly path: string }>(
  routes: readonly R[],
): (path: string) => FoundRoute<R> | undefined {
  const router = new Router({ strict: true, sensitive: true })
  const byPattern = new Map<string, R>()
  const ranked = routes.map((route) => ({ route, ...patternOf(route.path) }))
  // The router takes the first route that matches, so add the preferred patterns first.
  for (const { route, pattern } of ranked.toSorted((a, b) => (a.rank < b.rank ? -1 : 1))) {
    assert(!byPattern.has(pattern), `the path ${route.path} is served once`)
    byPattern.set(pattern, route)
    router.register(pattern, [anyMethod], () => undefined)
  }
  // Look up exact paths in a map, because the router tries its patterns one after the other.
  const literals = new Map(
    ranked.flatMap(({ route, rank }) => (/^0*$/.test(rank) ? [[route.path, { route, segments: [] }]] : [])),
  )
  return (path) => {
    const literal = literals.get(path)
    if (literal !== undefined) return literal
    const [layer] = router.match(path, anyMethod).path
    if (layer === undefined) return undefined
    const route = assertPresent(byPattern.get(String(layer.path)), 'the router has only these routes')
    // Take the segments from the path, because the router's own parameters are percent-decoded.
    return { route, segments: layer.captures(path) }
  }
}

// The route itself decides about methods, so the table has one entry for each path.
const anyMethod = 'GET'

const ranks = { literal: '0', one: '1', rest: '2' } as const

/**
 * Returns the pattern of a path for the router, and its rank, which sorts the table. The pattern gives each parameter a
 * name by its position, as in `:s2`.
 */
function patternOf(path: string): { readonly pattern: string; readonly rank: string } {
  const segments = path.split('/').map((text, index) => ({ text, index, kind: kindOf(text) }))
  return {
    pattern: segments
      .map(({ text, index, kind }) => (kind === 'literal' ? literal(text) : `${kind === 'one' ? ':' : '*'}s${index}`))
      .join('/'),
    rank: segments.map(({ kind }) => ranks[kind]).join(''),
  }
}

function kindOf(segment: string): keyof typeof ranks {
  if (/^(?::\w+|\{\w+\})$/.test(segment)) return 'one'
  return /^\*\w+$/.test(segment) ? 'rest' : 'literal'
}

function literal(segment: string): string {
  return segment.replaceAll(/[{}()[\]+?!:*\\]/g, String.raw`\$&`)
}

import type { Json } from '@tollbook/core/canonicalJson'
import { hasNoBody } from '../product/productFacts.ts'
import type { Parameters } from './checkParameters.ts'
import type { RouteEntry } from './productsFile.ts'

const parameterOfSegment = /^\{([A-Za-z_][A-Za-z0-9_.-]{0,63})\}$/

/**
 * Reads and checks the path at the upstream. `inPath` has the parameters that fill whole segments. All other parts are
 * sent as written.
 */
export function readTarget(to: string) {
  const [path = '', ...query] = to.split('?')
  const segments = path.split('/')
  const inPath = segments.flatMap((segment) => parameterOfSegment.exec(segment)?.[1] ?? [])
  const plain = segments.filter((segment) => !parameterOfSegment.test(segment))
  const problem = plain.some((segment) => /[{}]/.test(segment))
    ? 'must have {name} as a whole segment, of letters, digits and _ . -'
    : query.join('?').includes('{')
      ? 'must have {name} in the path only; other parameters are in the query by themselves'
      : plain.some((segment) => /^(\.|%2e){1,2}$/i.test(segment) || segment.includes('#') || segment.includes('\\'))
        ? 'must not contain dot segments, # or \\'
        : new Set(inPath).size < inPath.length
          ? 'names a parameter twice'
          : undefined
  return { inPath, problem }
}

/** Returns the names that `to` writes into the query. */
export function fixedNames({ to = '' }: Pick<RouteEntry, 'to'>): readonly string[] {
  return [...new URLSearchParams(to.split('?')[1]).keys()]
}

export function hasJsonBody({ method, body }: RouteEntry): boolean {
  return !hasNoBody(method) && body.content_types === undefined
}

/** True if a parameter outside of the path is sent in the query, and not in the JSON body. */
function isInQuery(route: RouteEntry, name: string): boolean {
  return !hasJsonBody(route) || route.query.includes(name)
}

/** True if the upstream gets the items of this parameter separated by commas. */
export function isJoined(route: RouteEntry, name: string): boolean {
  return route.arrays === 'comma' && isInQuery(route, name)
}

/** Returns the target and the body of a request. Every parameter is sent in only one of path, query and body. */
export function requestFor(route: RouteEntry, order: Parameters) {
  const used = new Set<string>()
  const segment = (written: string) => {
    const name = parameterOfSegment.exec(written)?.[1]
    if (name === undefined) return written
    used.add(name)
    // `.` and `..` cannot occur here, although they stay unencoded: `isSegment` has refused them.
    return encodeURIComponent(textOf(order[name] ?? ''))
  }
  const [path = '', fixed] = (route.to ?? '/').split('?')
  const filled = path.split('/').map(segment).join('/')
  const rest = Object.entries(order).filter(([name]) => !used.has(name))
  const inQuery = rest.filter(([name]) => isInQuery(route, name))
  const inBody = rest.filter(([name]) => !isInQuery(route, name))
  const query = new URLSearchParams(inQuery.flatMap(([name, value]) => pairsOf(name, value, route.arrays)))
  const parts = [fixed, query.toString()].filter((part) => part !== undefined && part !== '')
  return {
    target: filled + (parts.length === 0 ? '' : `?${parts.join('&')}`),
    body: hasJsonBody(route) ? JSON.stringify(Object.fromEntries(inBody)) : undefined,
  }
}

function pairsOf(name: string, value: Json, arrays: RouteEntry['arrays']): [string, string][] {
  if (!Array.isArray(value)) return [[name, textOf(value)]]
  const texts = value.map(textOf)
  return arrays === 'comma' ? [[name, texts.join(',')]] : texts.map((text): [string, string] => [name, text])
}

const textOf = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value))

import type { Context, Next } from 'koa'
import type { PaymentRail } from '../paywall/rail.ts'
import { pathOf } from './requestHead.ts'
import { createRouteTable } from './routeTable.ts'

export interface CorsDeps {
  readonly rails: readonly Pick<PaymentRail, 'requestHeaders' | 'responseHeaders'>[]
  /** Paths that pages of any origin can read, in the syntax of the router. They cannot read the answers of other paths. */
  readonly paths: readonly string[]
}

/** `header` returns an empty text for a missing header. */
export interface CorsQuestion {
  readonly path: string
  readonly method: string
  readonly header: (name: string) => string
}

type Headers = Readonly<Record<string, string>>

const requestHeaders = ['content-type', 'idempotency-key']
const responseHeaders = [
  'x-request-id',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'idempotent-replay',
  'x-sample-data',
  'x-answer-meta',
  'tollbook-receipt',
  'receipt-location',
]
// Chromium caches a preflight answer for two hours at most.
const preflightSeconds = 7_200

/** Creates the middleware that sets the headers. The router itself answers the preflight. */
export function createCors(deps: CorsDeps): (context: Context, next: Next) => Promise<unknown> {
  const headersFor = corsHeaders(deps)
  return (context, next) => {
    const { req, method } = context
    context.set(headersFor({ path: pathOf(req), method, header: (name) => context.get(name) }))
    return next()
  }
}

/**
 * Returns a function that computes the headers of an answer. The service has no cookies and no sessions, so any origin
 * may send requests. Credentials are never allowed (Fetch standard, CORS protocol).
 */
export function corsHeaders({ rails, paths }: CorsDeps): (question: CorsQuestion) => Headers {
  const find = createRouteTable(paths.map((path) => ({ path })))
  const allowed = [...requestHeaders, ...rails.flatMap((rail) => rail.requestHeaders)].join(', ')
  const exposed = [...responseHeaders, ...rails.flatMap((rail) => rail.responseHeaders)].join(', ')
  const preflight = {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': allowed,
    'access-control-max-age': String(preflightSeconds),
  }
  return ({ path, method, header }) => {
    if (find(path) === undefined) return {}
    if (method === 'OPTIONS' && header('access-control-request-method') !== '') return preflight
    // Send the header to every origin. Otherwise a shared cache could store an answer that only some pages can read.
    return { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed }
  }
}

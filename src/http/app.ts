import Router from '@koa/router'
import Koa, { type Context, type Middleware } from 'koa'
import type { Clock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import { newId } from '@tollbook/core/id'
import type { Log } from '../primitives/log.ts'
import { type Paywall, sell } from '../paywall/paywall.ts'
import type { PaidRequest } from '../paywall/product.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { Admission } from './admission.ts'
import { clientAddress, limitKey } from './clientAddress.ts'
import { findFramingProblem } from './framing.ts'
import type { FreeAnswer, FreeRequest, FreeRoute } from './freeRoutes.ts'
import type { Metrics } from './metrics.ts'
import type { RateLimit } from './rateLimit.ts'
import { readParameters } from './readParameters.ts'
import { errorAnswer } from './transportError.ts'

export interface AppDeps {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly admission: Admission
  readonly rateLimit: RateLimit
  readonly paywall: Paywall
  readonly endpoints: readonly Endpoint[]
  readonly freeRoutes: readonly FreeRoute[]
  readonly trustedProxyHops: number
  readonly isDraining: () => boolean
}

/** Koa with the routes. What it refuses by itself is framing, routes and load; everything about money is in the paywall. */
export function createApp(deps: AppDeps): Koa {
  const app = new Koa({ proxy: false })
  const router = new Router({ strict: true, sensitive: true })
  for (const endpoint of deps.endpoints) {
    const serve: Middleware = (context) => servePaid(deps, endpoint, context)
    if (endpoint.method === 'GET') router.get(endpoint.path, serve)
    else router.post(endpoint.path, serve)
  }
  for (const route of deps.freeRoutes)
    router.get(route.path, async (context) => send(context, await route.serve(freeRequest(deps, route, context))))
  // Last resort for what breaks outside of `observe`, such as a socket that is gone.
  app.on('error', (error: unknown) => deps.log.warn({ event: 'response_broke', error: describeError(error) }))
  app.use((context, next) => observe(deps, context, next))
  app.use((context, next) => admit(deps, context, next))
  app.use(router.routes())
  return app
}

/** Gives every request an id, every answer a line in the log, and every bug a 500 that tells nothing but the id. */
async function observe(deps: AppDeps, context: Context, next: () => Promise<unknown>): Promise<void> {
  const startedAtMs = deps.clock.monotonicMs()
  const requestId = newId('request')
  context.state['requestId'] = requestId
  context.set('x-request-id', requestId)
  context.set('x-content-type-options', 'nosniff')
  if (deps.isDraining()) context.set('connection', 'close')
  try {
    await next()
  } catch (error) {
    deps.log.error({
      event: 'request_broke',
      requestId,
      error: describeError(error),
      stack: error instanceof Error ? error.stack : undefined,
    })
    send(context, errorAnswer('INTERNAL_ERROR', 'something broke on our side; no payment was used up', { requestId }))
  }
  const durationMs = deps.clock.monotonicMs() - startedAtMs
  const route = routeOf(deps, context.path)
  deps.metrics.onRequest({ route, status: context.status, durationMs })
  deps.log.debug({
    event: 'request',
    requestId,
    method: context.method,
    route,
    status: context.status,
    durationMs: Math.round(durationMs),
  })
}

/** The first verdicts, in the published order: framing, route, method, load, rate. */
async function admit(deps: AppDeps, context: Context, next: () => Promise<unknown>): Promise<void> {
  const problem = findFramingProblem(context.req)
  if (problem !== undefined) return send(context, errorAnswer('INVALID_REQUEST', problem))
  const allowed = methodsOf(deps, context.path)
  if (allowed.length === 0)
    return send(context, errorAnswer('NOT_FOUND', 'there is no such path; paths are exact and case-sensitive'))
  if (!allowed.includes(context.method)) return refuseMethod(context, allowed)

  const isPaid = context.get('x-payment-proof') !== ''
  const leave = deps.admission.enter(isPaid ? 'paid' : 'unpaid')
  if (leave === undefined) {
    return send(
      context,
      errorAnswer('OVERLOADED', 'too much is under way; try again shortly', { headers: { 'retry-after': '1' } }),
    )
  }
  try {
    const retryAfterSeconds = await deps.rateLimit.take(limitKey(clientAddress(context.req, deps.trustedProxyHops)))
    if (retryAfterSeconds !== undefined) {
      const headers = { 'retry-after': String(retryAfterSeconds) }
      return send(context, errorAnswer('RATE_LIMITED', 'too many requests from this address', { headers }))
    }
    await next()
  } finally {
    leave()
  }
}

function refuseMethod(context: Context, allowed: readonly string[]): void {
  context.set('allow', allowed.join(', '))
  if (context.method === 'OPTIONS') {
    context.status = 204
    return
  }
  send(context, errorAnswer('METHOD_NOT_ALLOWED', `use ${allowed.join(' or ')}`))
}

/** Free routes answer HEAD as HTTP asks; a paid one does not, because an answer without a body would be sold. */
function methodsOf({ endpoints, freeRoutes }: AppDeps, path: string): readonly string[] {
  const endpoint = endpoints.find((candidate) => candidate.path === path)
  if (endpoint !== undefined) return [endpoint.method]
  return freeRoutes.some((route) => segmentOf(route, path) !== undefined) ? ['GET', 'HEAD'] : []
}

/** What stands for the varying end of a route, empty for a route without one; undefined when it is not its path. */
function segmentOf({ path: pattern }: FreeRoute, path: string): string | undefined {
  const [, varying, kind] = /^(.*\/)([:*])\w+$/.exec(pattern) ?? []
  if (varying === undefined) return pattern === path ? '' : undefined
  const segment = path.startsWith(varying) ? path.slice(varying.length) : ''
  return segment === '' || (kind === ':' && segment.includes('/')) ? undefined : segment
}

/** For counting: the pattern and not the path, because a caller must not be able to make new series. */
function routeOf({ endpoints, freeRoutes }: AppDeps, path: string): string {
  if (endpoints.some((endpoint) => endpoint.path === path)) return path
  return freeRoutes.find((route) => segmentOf(route, path) !== undefined)?.path ?? 'none'
}

async function servePaid(deps: AppDeps, endpoint: Endpoint, context: Context): Promise<void> {
  const request: PaidRequest = {
    requestId: String(context.state['requestId']),
    header: (name) => headerOf(context, name),
    readParameters: () => readParameters(endpoint, context.req, context.querystring),
  }
  send(context, await sell(deps.paywall, endpoint, request))
}

/** A header that is blank is absent. */
function headerOf(context: Context, name: string): string | undefined {
  const value = context.get(name).trim()
  return value === '' ? undefined : value
}

function freeRequest(deps: AppDeps, route: FreeRoute, context: Context): FreeRequest {
  const address = clientAddress(context.req, deps.trustedProxyHops)
  return {
    address,
    segment: segmentOf(route, context.path) ?? '',
    host: context.get('host'),
    requestId: String(context.state['requestId']),
    query: context.querystring,
    header: (name) => headerOf(context, name),
  }
}

function send(context: Context, { status, headers, body }: FreeAnswer): void {
  context.status = status
  context.set(headers)
  context.body = body
}

import Koa, { type Context } from 'koa'
import type { Clock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import { newId } from '@tollbook/core/id'
import type { Log } from '../primitives/log.ts'
import { refusalAnswer } from '../paywall/answer.ts'
import type { Paywall } from '../paywall/paywall.ts'
import { sellOnRails } from '../paywall/sellOnRails.ts'
import type { PaidRequest } from '../paywall/paidRequest.ts'
import type { RailRequest } from '../paywall/rail.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { Admission } from './admission.ts'
import type { CallerLimits, Pass } from './callerLimits.ts'
import { clientAddress, limitKey } from './clientAddress.ts'
import { createCors } from './cors.ts'
import { findFramingProblem } from './framing.ts'
import type { FreeRequest, FreeRoute } from './freeRoutes.ts'
import { loggedHeaders } from './loggedHeaders.ts'
import type { Metrics } from './metrics.ts'
import { hasNoInput, openProbe } from './probe.ts'
import { readParameters } from './readParameters.ts'
import { createRouter, refusePath, type Route } from './routes.ts'
import { onceSent, send, sendStream } from './send.ts'
import { errorAnswer } from './transportError.ts'

export interface AppDeps {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly admission: Admission
  readonly limits: CallerLimits
  readonly paywall: Paywall
  readonly endpoints: readonly Endpoint[]
  readonly freeRoutes: readonly FreeRoute[]
  /** Paths of free routes that pages of other origins may read. */
  readonly crossOriginPaths?: readonly string[]
  readonly trustedProxyHops: number
  readonly isDraining: () => boolean
}

/**
 * Koa with the routes. Requests are refused in the published order: framing, path, method, load, rate. The paywall decides
 * everything about money, and its rails know the headers of payments.
 */
export function createApp(deps: AppDeps): Koa {
  const app = new Koa({ proxy: false })
  // The last resort for errors outside of `observe`, such as a socket that is gone.
  app.on('error', (error: unknown) => deps.log.warn({ event: 'response_broke', error: describeError(error) }))
  app.use((context, next) => observe(deps, context, next))
  app.use((context, next) => {
    const problem = findFramingProblem(context.req)
    return problem === undefined ? next() : send(context, errorAnswer('INVALID_REQUEST', problem))
  })
  const paid = paidRoutes(deps)
  const paths = [...paid.map(({ path }) => path), ...(deps.crossOriginPaths ?? [])]
  app.use(createCors({ rails: deps.paywall.rails, paths }))
  app.use(createRouter([...paid, ...freeRoutes(deps)]))
  app.use(refusePath)
  return app
}

/** Gives every request an id, every answer a line in the log, and every bug a 500 that contains only the id. */
async function observe(deps: AppDeps, context: Context, next: () => Promise<unknown>): Promise<void> {
  const startedAtMs = deps.clock.monotonicMs()
  const requestId = newId('request')
  context.state['requestId'] = requestId
  context.state['route'] = 'none'
  context.set('x-request-id', requestId)
  context.set('x-content-type-options', 'nosniff')
  if (deps.isDraining()) context.set('connection', 'close')
  try {
    await next()
  } catch (error) {
    deps.log.error({
      event: 'request_broke',
      requestId,
      headers: loggedHeaders(context.headers, deps.paywall.rails),
      error: describeError(error),
      stack: error instanceof Error ? error.stack : undefined,
    })
    send(
      context,
      errorAnswer(
        'INTERNAL_ERROR',
        'the service failed; no payment was used up, so send the request again with the same proof',
        { requestId },
      ),
    )
  }
  const durationMs = deps.clock.monotonicMs() - startedAtMs
  const route = String(context.state['route'])
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

/** A product has its own path, and one more below the mount of each rail that has one. No HEAD: it would sell an answer without a body. */
function paidRoutes(deps: AppDeps): readonly Route[] {
  const mounts = [undefined, ...deps.paywall.rails.flatMap(({ mount }) => (mount === undefined ? [] : [mount]))]
  return deps.endpoints.flatMap((endpoint) =>
    mounts.map((mount) => ({
      path: `${mount ?? ''}${endpoint.path}`,
      methods: [endpoint.method],
      serve: (context: Context) =>
        admit(deps, context, () =>
          withinLimits(deps, context, (pass) => servePaid(deps, endpoint, { context, mount, pass })),
        ),
    })),
  )
}

function freeRoutes(deps: AppDeps): readonly Route[] {
  return deps.freeRoutes.map((route) => ({
    path: route.path,
    methods: ['GET', 'HEAD'],
    serve: (context: Context, segment: string) =>
      admit(deps, context, async () => {
        const serve = async () => send(context, await route.serve(freeRequest(deps, context, segment)))
        return route.isProbe === true ? serve() : withinLimits(deps, context, serve)
      }),
  }))
}

/** Lets a request in if the load allows it. Requests that carry a proof of any rail go first. */
async function admit(deps: AppDeps, context: Context, serve: () => Promise<void>): Promise<void> {
  const request = railRequest(context, undefined)
  const carriesProof = deps.paywall.rails.some((rail) => rail.carriesProof(request))
  const leave = deps.admission.enter(carriesProof ? 'paid' : 'unpaid')
  if (leave === undefined) {
    const headers = { 'retry-after': '1' }
    return send(
      context,
      errorAnswer('OVERLOADED', 'too many requests are in progress; send the request again in a second', { headers }),
    )
  }
  try {
    await serve()
  } finally {
    leave()
  }
}

/** Answers 429 when the client address has sent too many requests. */
async function withinLimits(deps: AppDeps, context: Context, serve: (pass: Pass) => Promise<void>): Promise<void> {
  const pass = deps.limits.enter(limitKey(clientAddress(context.req, deps.trustedProxyHops)))
  context.set(pass.headers())
  if (pass.refused === undefined) await serve(pass)
  else send(context, refusalAnswer(pass.refused))
}

interface Arrival {
  readonly context: Context
  readonly mount: string | undefined
  readonly pass: Pass
}

async function servePaid(deps: AppDeps, endpoint: Endpoint, { context, mount, pass }: Arrival): Promise<void> {
  const startedAtMs = deps.clock.monotonicMs()
  const asRails = railRequest(context, mount)
  const carriesProof = deps.paywall.rails.some((rail) => rail.carriesProof(asRails))
  const isProbe = mount !== undefined && !carriesProof && hasNoInput(context.req)
  const request: PaidRequest = {
    ...asRails,
    requestId: String(context.state['requestId']),
    readParameters: () =>
      isProbe ? Promise.resolve(openProbe(endpoint)) : readParameters(endpoint, context.req, context.querystring),
    takeQuote: pass.takeQuote,
    takeLookup: pass.takeLookup,
    onProven: pass.onProven,
  }
  const answer = await sellOnRails(deps.paywall, endpoint, request)
  context.set(pass.headers())
  const dispatchOf = () => ('chunks' in answer ? answer.dispatch() : answer.dispatch)
  onceSent(context, () => dispatchOf()?.markSent())
  if ('chunks' in answer) await sendStream(deps, context, answer)
  else send(context, answer)
  const dispatch = dispatchOf()
  if (dispatch === undefined) return
  const { wallet, reference, position, isReplay } = dispatch
  const durationMs = Math.round(deps.clock.monotonicMs() - startedAtMs)
  const { requestId } = request
  deps.log.info({
    event: 'request_served',
    requestId,
    endpoint: endpoint.path,
    wallet,
    reference,
    position,
    isReplay,
    durationMs,
  })
}

function railRequest(context: Context, mount: string | undefined): RailRequest {
  return { mount, header: (name) => headerOf(context, name) }
}

/** A header that is blank is absent. */
function headerOf(context: Context, name: string): string | undefined {
  const value = context.get(name).trim()
  return value === '' ? undefined : value
}

function freeRequest(deps: AppDeps, context: Context, segment: string): FreeRequest {
  return {
    address: clientAddress(context.req, deps.trustedProxyHops),
    segment,
    host: context.get('host'),
    requestId: String(context.state['requestId']),
    query: context.querystring,
    header: (name) => headerOf(context, name),
  }
}

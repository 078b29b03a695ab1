import type { IncomingMessage, ServerResponse } from 'node:http'
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
import type { Admission, Slot, Visitor } from './admission.ts'
import type { CallerLimits, Pass } from './callerLimits.ts'
import { clientAddress, limitKey } from './clientAddress.ts'
import type { Connections } from './connections.ts'
import { createCors } from './cors.ts'
import { findFramingProblem } from './framing.ts'
import type { FreeAnswer, FreeRequest, FreeRoute } from './freeRoutes.ts'
import { loggedHeaders } from './loggedHeaders.ts'
import type { Metrics } from './metrics.ts'
import { hasNoInput, openProbe } from './probe.ts'
import { readBody } from './readBody.ts'
import { readParameters } from './readParameters.ts'
import { createRouter, refusePath, type Route } from './routes.ts'
import { onceSent, send, sendStream } from './send.ts'
import { errorAnswer, overloaded } from './transportError.ts'
import type { Handler } from './turns.ts'
import type { Uploads } from './uploads.ts'

export interface AppDeps {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly admission: Admission
  readonly connections: Connections
  readonly uploads: Uploads
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
 * Koa with the routes, behind a check of the load. An overloaded instance refuses before Koa does any work; otherwise requests
 * are refused in the published order: framing, path, method, rate, load. The paywall decides everything about money, and its rails
 * know the headers of payments.
 */
export function createApp(deps: AppDeps): Handler {
  const koa = createKoa(deps).callback()
  const probes = new Set(deps.freeRoutes.flatMap(({ path, isProbe }) => (isProbe === true ? [path] : [])))
  return async (request, response) => {
    const isProbe = probes.has(pathOf(request))
    if (!isProbe && deps.admission.refuses(visitorOf(deps, request))) {
      shed(deps, response)
      return 'shed'
    }
    await koa(request, response)
    return response.statusCode === 429 ? 'shed' : 'served'
  }
}

function createKoa(deps: AppDeps): Koa {
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

const overloadedAnswer = overloaded()

/** Refuses a request without looking at it. Costs a tenth of a refusal by the routes. */
function shed({ metrics }: AppDeps, response: ServerResponse): void {
  const { status, headers, body } = overloadedAnswer
  response.writeHead(status, {
    ...headers,
    'x-request-id': newId('request'),
    'x-content-type-options': 'nosniff',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
  metrics.onRequest({ route: 'shed', status, durationMs: 0 })
}

function visitorOf(deps: AppDeps, request: IncomingMessage): Visitor {
  const address = limitKey(clientAddress(request, deps.trustedProxyHops))
  return { purpose: purposeOf(deps, request), address }
}

/** Requests with a proof of any rail go before requests for a price. A header proves nothing, so they have their own share. */
function purposeOf({ paywall, endpoints }: AppDeps, request: IncomingMessage): Visitor['purpose'] {
  const asked: RailRequest = { mount: undefined, header: (name) => headerOf(request, name) }
  if (paywall.rails.some((rail) => rail.carriesProof(asked))) return 'proof'
  const path = pathOf(request)
  return endpoints.some((endpoint) => path.endsWith(endpoint.path)) ? 'quote' : 'read'
}

function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
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
      serve: async (context: Context) => {
        const pass = withinLimits(deps, context)
        if (pass !== undefined) await servePaid(deps, endpoint, { context, mount, pass })
      },
    })),
  )
}

function freeRoutes(deps: AppDeps): readonly Route[] {
  return deps.freeRoutes.map((route) => ({
    path: route.path,
    methods: route.bodyBytesMax === undefined ? ['GET', 'HEAD'] : ['POST'],
    serve: (context: Context, segment: string) => serveFree(deps, route, { context, segment }),
  }))
}

interface FreeArrival {
  readonly context: Context
  readonly segment: string
}

async function answerFree(deps: AppDeps, route: FreeRoute, { context, segment }: FreeArrival): Promise<FreeAnswer> {
  const request = freeRequest(deps, context, segment)
  if (route.bodyBytesMax === undefined) return route.serve(request)
  const { req, res } = context
  const { address } = visitorOf(deps, req)
  const body = await readBody(deps, { request: req, response: res, address, bytesMax: route.bodyBytesMax })
  return 'status' in body ? body : route.serve({ ...request, body })
}

/** Health checks pass without a slot. Beyond a rate that no monitor needs they are requests like others. */
async function serveFree(deps: AppDeps, route: FreeRoute, { context, segment }: FreeArrival): Promise<void> {
  const answer = async () => send(context, await answerFree(deps, route, { context, segment }))
  if (route.isProbe === true && deps.admission.passesProbe(visitorOf(deps, context.req).address)) return answer()
  if (withinLimits(deps, context) === undefined) return
  const slot = enter(deps, context)
  if (slot === undefined) return send(context, overloadedAnswer)
  try {
    await answer()
  } finally {
    slot.leave()
  }
}

/** Answers 429 when the client address has sent too many requests. */
function withinLimits(deps: AppDeps, context: Context): Pass | undefined {
  const pass = deps.limits.enter(visitorOf(deps, context.req).address)
  context.set(pass.headers())
  if (pass.refused === undefined) return pass
  send(context, refusalAnswer(pass.refused))
  return undefined
}

/** Takes a slot for a request that has arrived whole. Undefined when the instance is overloaded. */
function enter(deps: AppDeps, { req, res }: Context): Slot | undefined {
  const slot = deps.admission.enter(visitorOf(deps, req))
  if (slot === undefined) return undefined
  deps.connections.hold(req.socket)
  res.once('close', () => deps.connections.release(req.socket))
  return slot
}

interface Arrival {
  readonly context: Context
  readonly mount: string | undefined
  readonly pass: Pass
}

async function servePaid(deps: AppDeps, endpoint: Endpoint, { context, mount, pass }: Arrival): Promise<void> {
  const startedAtMs = deps.clock.monotonicMs()
  let slot: Slot | undefined
  const request: PaidRequest = {
    ...railRequest(context, mount),
    requestId: String(context.state['requestId']),
    async readParameters() {
      // The slot is taken when the body is here: a slow upload holds nothing that others need.
      const isProbe = mount !== undefined && hasNoInput(context.req) && purposeOf(deps, context.req) !== 'proof'
      const body = isProbe ? undefined : await readBodyOf(deps, endpoint, context)
      if (body !== undefined && 'status' in body) return body
      slot = enter(deps, context)
      if (slot === undefined) return overloadedAnswer
      return isProbe ? openProbe(endpoint) : readParameters(endpoint, { queryText: context.querystring, body })
    },
    takeQuote: pass.takeQuote,
    takeLookup: pass.takeLookup,
    onProven(payer) {
      pass.onProven(payer)
      slot?.prove()
    },
  }
  try {
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
  } finally {
    slot?.leave()
  }
}

function readBodyOf(deps: AppDeps, { method, bodyBytesMax }: Endpoint, { req, res }: Context) {
  if (method === 'GET') return Promise.resolve(undefined)
  const { address } = visitorOf(deps, req)
  return readBody(deps, { request: req, response: res, address, bytesMax: bodyBytesMax })
}

function railRequest(context: Context, mount: string | undefined): RailRequest {
  return { mount, header: (name) => headerOf(context.req, name) }
}

/** A header that is blank is absent. */
function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = String(headers[name] ?? '').trim()
  return value === '' ? undefined : value
}

function freeRequest(deps: AppDeps, context: Context, segment: string): FreeRequest {
  return {
    address: clientAddress(context.req, deps.trustedProxyHops),
    segment,
    host: context.get('host'),
    requestId: String(context.state['requestId']),
    query: context.querystring,
    header: (name) => headerOf(context.req, name),
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import Koa, { type Context } from 'koa'
import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import { sha256 } from '@tollbook/core/digest'
import { describeError } from '@tollbook/core/fault'
import { newId } from '@tollbook/core/id'
import type { Log } from '../primitives/log.ts'
import { type Answer, refusalAnswer } from '../paywall/answer.ts'
import type { Sales } from '../paywall/sales.ts'
import type { PaidRequest } from '../paywall/paidRequest.ts'
import type { RailRequest } from '../paywall/rail.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { Admission, Slot, Visitor } from './admission.ts'
import { restSteps } from './allowances.ts'
import type { CallerLimits, Pass } from './callerLimits.ts'
import { clientAddress, limitKey } from './clientAddress.ts'
import type { Connections } from './connections.ts'
import { createCors } from './cors.ts'
import { findFramingProblem } from './framing.ts'
import type { FreeAction, FreeAnswer, FreeRequest, FreeRoute } from './freeRoutes.ts'
import { loggedHeaders } from './loggedHeaders.ts'
import { prefersHtml } from './mediaRange.ts'
import type { Metrics } from './metrics.ts'
import { parseJson } from './parseJson.ts'
import { hasNoInput, openProbe } from './probe.ts'
import { readBody } from './readBody.ts'
import { readParameters } from './readParameters.ts'
import { createRouter, refusePath, type Route } from './routes.ts'
import { onceSent, send, sendStream } from './send.ts'
import { errorAnswer, invalidRequest, overloaded } from './transportError.ts'
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
  readonly sales: Pick<Sales, 'rails' | 'sell'>
  readonly endpoints: readonly Endpoint[]
  readonly freeRoutes: readonly FreeRoute[]
  /** Paths of free routes that pages of other origins may read. */
  readonly crossOriginPaths?: readonly string[]
  /** The page that sells a product to a person in front of a browser. */
  readonly paymentPage?: (path: string) => Promise<FreeAnswer>
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
    const visitor = visitorOf(deps, request)
    if (!isProbe && deps.admission.refuses(visitor)) {
      const restSeconds = deps.admission.restSeconds(visitor.address)
      if (restSeconds > 0) tellProxy(deps, response, 'spent')
      shed(deps, response, spentAnswers.get(restSeconds) ?? overloadedAnswer)
      return restSeconds > 0 ? { spentForSeconds: restSeconds } : 'shed'
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
  app.use(createCors({ rails: deps.sales.rails, paths }))
  app.use(createRouter([...paid, ...freeRoutes(deps)]))
  app.use(refusePath)
  return app
}

const overloadedAnswer = overloaded()
const spentAnswers = new Map<number, Answer>(restSteps.map((seconds) => [seconds, overloaded(seconds)]))

/** Our own proxy refuses addresses that cause load without paying, at a fraction of our cost: deploy/haproxy.cfg. It removes this header. */
function tellProxy({ trustedProxyHops }: AppDeps, response: ServerResponse, state: 'spent' | 'paid'): void {
  if (trustedProxyHops > 0) response.setHeader('x-address-state', state)
}

/** Refuses a request without looking at it. Costs a tenth of a refusal by the routes. */
function shed({ metrics }: AppDeps, response: ServerResponse, { status, headers, body }: Answer): void {
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
function purposeOf({ sales, endpoints }: AppDeps, request: IncomingMessage): Visitor['purpose'] {
  const asked: RailRequest = { mount: undefined, header: (name) => headerOf(request, name) }
  if (sales.rails.some((rail) => rail.carriesProof(asked))) return 'proof'
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
      headers: loggedHeaders(context.headers, deps.sales.rails),
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
  const mounts = [undefined, ...deps.sales.rails.flatMap(({ mount }) => (mount === undefined ? [] : [mount]))]
  return deps.endpoints.flatMap((endpoint) =>
    mounts.map((mount) => ({
      path: `${mount ?? ''}${endpoint.path}`,
      methods: [endpoint.method],
      serve: async (context: Context) => {
        const pass = withinLimits(deps, context)
        if (pass === undefined) return
        const page = mount === undefined ? pageFor(deps, endpoint, context) : undefined
        if (page !== undefined) return send(context, await page)
        await servePaid(deps, endpoint, { context, mount, pass })
      },
    })),
  )
}

/** A person who opens the address of a product. A request with a header of any rail comes from a program. */
function pageFor({ paymentPage, sales }: AppDeps, { path, method }: Endpoint, { req }: Context) {
  if (paymentPage === undefined || method !== 'GET' || !prefersHtml(headerOf(req, 'accept'))) return undefined
  const names = sales.rails.flatMap(({ requestHeaders }) => requestHeaders)
  return names.some((name) => headerOf(req, name) !== undefined) ? undefined : paymentPage(path)
}

function freeRoutes(deps: AppDeps): readonly Route[] {
  return deps.freeRoutes.map((route) => ({
    path: route.path,
    methods: ['GET', 'HEAD', ...(route.post === undefined ? [] : ['POST'])],
    serve: (context: Context, segment: string) => serveFree(deps, route, { context, segment }),
  }))
}

/** Health checks pass without a slot. Beyond a rate that no monitor needs they are requests like others. */
async function serveFree(
  deps: AppDeps,
  route: FreeRoute,
  { context, segment }: { readonly context: Context; readonly segment: string },
): Promise<void> {
  const visitor = visitorOf(deps, context.req)
  if (route.isProbe === true && deps.admission.passesProbe(visitor.address))
    return send(context, await route.serve(freeRequest(deps, { context, segment, limits: unlimited })))
  const limits = withinLimits(deps, context)
  if (limits === undefined) return
  const request = freeRequest(deps, { context, segment, limits })
  const action = context.method === 'POST' ? await readAction(deps, context, request) : undefined
  if (action !== undefined && 'status' in action) return send(context, action)
  const slot = enter(deps, context)
  if (slot === undefined) return send(context, overloadedAnswer)
  try {
    send(context, await (action === undefined || route.post === undefined ? route.serve(request) : route.post(action)))
  } finally {
    slot.leave()
  }
}

const unlimited: FreeRequest['limits'] = { takeQuote: () => undefined, takeLookup: () => undefined }
const actionBytesMax = 1_024
const actionBody = z.record(z.string(), z.unknown())

async function readAction(deps: AppDeps, { req, res }: Context, request: FreeRequest): Promise<FreeAction | Answer> {
  const { address } = visitorOf(deps, req)
  const bytes = await readBody(deps, { request: req, response: res, address, bytesMax: actionBytesMax })
  if ('status' in bytes) return bytes
  const parsed = parseJson(bytes)
  if (!parsed.ok) return invalidRequest([{ field: 'body', message: parsed.message }])
  const body = actionBody.safeParse(parsed.value)
  return body.success
    ? { ...request, body: body.data }
    : invalidRequest([{ field: 'body', message: 'must be a JSON object' }])
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
  let arrived: Buffer | undefined
  const request: PaidRequest = {
    ...railRequest(context, mount),
    bodyDigest: () => (arrived === undefined ? undefined : sha256(arrived)),
    requestId: String(context.state['requestId']),
    async readParameters() {
      // The slot is taken when the body is here: a slow upload holds nothing that others need.
      const isProbe = mount !== undefined && hasNoInput(context.req) && purposeOf(deps, context.req) !== 'proof'
      const body = isProbe ? undefined : await readBodyOf(deps, endpoint, context)
      if (body !== undefined && 'status' in body) return body
      arrived = body
      slot = enter(deps, context)
      if (slot === undefined) return overloadedAnswer
      return isProbe ? openProbe(endpoint) : readParameters(endpoint, { queryText: context.querystring, body })
    },
    takeQuote: pass.takeQuote,
    takeLookup: pass.takeLookup,
    onProven(payer) {
      pass.onProven(payer)
      slot?.prove()
      tellProxy(deps, context.res, 'paid')
    },
  }
  try {
    const answer = await deps.sales.sell(endpoint, request)
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

interface FreeVisit extends Pick<FreeRequest, 'segment' | 'limits'> {
  readonly context: Context
}

function freeRequest(deps: AppDeps, { context, segment, limits }: FreeVisit): FreeRequest {
  return {
    address: clientAddress(context.req, deps.trustedProxyHops),
    segment,
    host: context.get('host'),
    requestId: String(context.state['requestId']),
    query: context.querystring,
    header: (name) => headerOf(context.req, name),
    limits,
  }
}

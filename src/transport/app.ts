import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import Koa, { type Context } from 'koa'
import { describeError } from '@tollbook/core/fault'
import { newId } from '@tollbook/core/id'
import type { Answer } from '../paywall/answer.ts'
import { type AdmitDeps, admissionRequestOf, reportAddressState } from './admitRequest.ts'
import { restSteps } from './allowances.ts'
import { createCors } from './cors.ts'
import { findFramingProblem, hasUnmetExpectation } from './framing.ts'
import { type MessageProtocol, messageRoute } from './messageRoute.ts'
import type { Metrics } from './metrics.ts'
import { pathOf } from './requestHead.ts'
import { createRouter, refusePath } from './routes.ts'
import { createRouteTable } from './routeTable.ts'
import { prefersProblem, problemAnswer, send } from './send.ts'
import { type FreeDeps, freeRoutesOf } from './serveFree.ts'
import { type PaidDeps, type PaidPath, paidPaths, paidRoutes } from './servePaid.ts'
import { errorAnswer, overloaded } from './transportError.ts'
import { writeRaw } from './writeRaw.ts'
import type { Handler } from './turns.ts'

export interface AppDeps extends Omit<PaidDeps, 'findSold'>, Omit<FreeDeps, keyof AdmitDeps> {
  readonly metrics: Metrics
  readonly crossOriginPaths?: readonly string[]
  readonly isDraining: () => boolean
  readonly messages?: readonly MessageProtocol[]
}

/**
 * Refuses requests to an overloaded instance before Koa routes them, except health checks. The other checks run in the
 * published order: framing, path, method, rate, load.
 */
export function createApp(app: AppDeps): Handler {
  const paths = paidPaths(app)
  const find = createRouteTable(paths)
  const deps = { ...app, findSold: (path: string) => find(path)?.route.endpoint }
  const koa = createKoa(deps, paths)
  const serve = koa.callback()
  const probes = new Set(deps.freeRoutes.flatMap(({ path, isProbe }) => (isProbe === true ? [path] : [])))
  return async (request, response) => {
    const isProbe = probes.has(pathOf(request))
    const arrived = admissionRequestOf(deps, request)
    if (!isProbe && deps.admission.refuses(arrived)) {
      const restSeconds = deps.admission.restSeconds(arrived.address)
      if (restSeconds > 0) reportAddressState(deps, response, 'spent')
      const { usual, problem } = spentAnswers.get(restSeconds) ?? overloadedAnswers
      const asksProblem = /problem\+json/i.test(request.headers.accept ?? '')
      const isProblem = asksProblem && prefersProblem(koa.createContext(request, response))
      shed(deps, response, isProblem ? problem : usual)
      return restSeconds > 0 ? { spentForSeconds: restSeconds } : 'shed'
    }
    await serve(request, response)
    return response.statusCode === 429 ? 'shed' : 'served'
  }
}

function createKoa(deps: AppDeps & AdmitDeps, sold: readonly PaidPath[]): Koa {
  const app = new Koa({ proxy: false })
  // Logs errors outside of `observe`, such as a closed socket.
  app.on('error', (error: unknown) => deps.log.warn({ event: 'response_broke', error: describeError(error) }))
  app.use((context, next) => observe(deps, context, next))
  app.use((context, next) => {
    const problem = findFramingProblem(context.req)
    // A proxy may see the end of this request elsewhere, so no other request may follow (RFC 9112, 6.1).
    if (problem !== undefined)
      return send(context, errorAnswer('INVALID_REQUEST', problem, { headers: { connection: 'close' } }))
    if (hasUnmetExpectation(context.req))
      return send(context, errorAnswer('EXPECTATION_FAILED', 'the only expectation served is 100-continue'))
    return next()
  })
  const paid = paidRoutes(deps, sold)
  const paths = [...paid.map(({ path }) => path), ...(deps.crossOriginPaths ?? [])]
  app.use(createCors({ rails: deps.sales.rails, paths }))
  const messages = (deps.messages ?? []).map((protocol) => messageRoute(deps, protocol))
  app.use(createRouter([...paid, ...messages, ...freeRoutesOf(deps)]))
  app.use(refusePath)
  return app
}

interface ShedAnswers {
  readonly usual: Answer
  readonly problem: Answer
}

/** Writes both forms of the answer once, so that a refusal stays cheap. */
function overloadedIn(seconds: number): ShedAnswers {
  const usual = overloaded(seconds)
  return { usual, problem: problemAnswer(usual) }
}

const overloadedAnswers = overloadedIn(1)
const spentAnswers = new Map<number, ShedAnswers>(restSteps.map((seconds) => [seconds, overloadedIn(seconds)]))

/** Sends the refusal without reading the body, so that it costs less than a refusal by the routes. */
function shed({ metrics }: AppDeps, response: ServerResponse, answer: Answer): void {
  writeRaw(response, answer)
  metrics.onRequest({ route: 'shed', status: answer.status, durationMs: 0 })
}

/**
 * Serves, counts and logs a request. A bug is answered with a 500 that states the id of the request, and nothing about
 * the bug.
 */
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

const alwaysSecret = ['authorization', 'proxy-authorization', 'cookie', 'idempotency-key']
const charactersMax = 200

/**
 * Returns the headers for the log, without the values of credentials. Each rail lists its credential headers, so a new
 * rail needs no change here.
 */
function loggedHeaders(
  headers: IncomingHttpHeaders,
  rails: AppDeps['sales']['rails'],
): Readonly<Record<string, string>> {
  const secret = new Set([...alwaysSecret, ...rails.flatMap(({ secretHeaders }) => secretHeaders)])
  const shown = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    secret.has(name) ? '[secret]' : String(value).slice(0, charactersMax),
  ])
  return Object.fromEntries(shown)
}

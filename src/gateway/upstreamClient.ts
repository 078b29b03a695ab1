import type { IncomingMessage } from 'node:http'
import { sha256Hex } from '@tollbook/core/digest'
import { errorCode } from '@tollbook/core/fault'
import { createOutcomes, type OutcomeDeps, type Outcomes } from '../outbound/breaker.ts'
import { UpstreamFailure } from '../product/upstreamFailure.ts'
import { createLiveness, type Liveness } from '../product/liveness.ts'
import { type Connections, openConnections } from './exchange.ts'
import { createPace, type Pace } from '../outbound/pace.ts'
import { TooLong } from '../outbound/readBytes.ts'
import type { UpstreamEntry } from './productsFile.ts'
import { createPermits, type Permits } from '../machine/permits.ts'

export interface UpstreamClientDeps extends Pick<OutcomeDeps, 'clock' | 'log' | 'onCall'> {
  readonly version: string
  /** True if upstreams are probed in the background. False: an upstream counts as working until a request fails. */
  readonly isProbed: boolean
}

export interface RouteRequest {
  readonly method: string
  /** Path below the base URL, and the query. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  readonly signal: AbortSignal
  /** Maximum time in milliseconds until `keepReading` is called or the exchange ends. */
  readonly timeoutMs: number
  /** True if the request may be sent a second time after a broken connection. */
  readonly isIdempotent: boolean
}

/** An answer whose head has arrived. It holds a permit of the upstream until `end` is called. */
export interface OpenAnswer {
  readonly response: IncomingMessage
  /** Ends the time limit of the request. The reader of a stream then applies separate limits. */
  keepReading(): void
  /**
   * Ends the exchange and drops the rest of the answer. The first call records the outcome, and returns the failure for
   * an error. Later calls return undefined.
   */
  end(error?: unknown): UpstreamFailure | undefined
}

export type UpstreamClient = ReturnType<typeof openUpstreamClient>

interface State extends UpstreamClientDeps {
  readonly name: string
  readonly origin: URL
  readonly entry: UpstreamEntry
  readonly outcomes: Outcomes
  readonly connections: Connections
  readonly liveness: Liveness
  readonly permits: Permits
  readonly pace: Pace | undefined
}

const probeMsMax = 3_000

/**
 * Opens the client of an upstream. All routes of the upstream share the circuit breaker, the limits and the
 * connections.
 */
export function openUpstreamClient(deps: UpstreamClientDeps, name: string, entry: UpstreamEntry) {
  const origin = new URL(entry.url ?? entry.mcp ?? '')
  const connections = openConnections(origin, entry.concurrency)
  const permits = createPermits(entry.concurrency)
  const outcomes = createOutcomes({ ...deps, name })
  const pace =
    entry.pace && createPace(deps.clock, { requests: entry.pace.requests, perSeconds: entry.pace.per / 1000 })
  const whyResting = () => {
    if (outcomes.breaker.isOpen()) return 'the API behind this product has failed and is left alone for a while'
    return pace?.isFull() === true ? 'the API behind this product has been asked as often as it allows' : undefined
  }
  const liveness = createLiveness(deps, [{ name, whyUnavailable: whyResting, probe: () => probe(state) }])
  const state: State = { ...deps, name, origin, entry, outcomes, connections, liveness, permits, pace }
  const silent = 'the API behind this product does not answer'
  return {
    name,
    entry,
    liveness,
    /** Returns the reason why the upstream cannot be used now, in words for a caller. Undefined: available. */
    whyUnavailable: () => whyResting() ?? (liveness.someAnswer() ? undefined : silent),
    /** Resolves with the head of the answer. The caller must end the answer. Throws only `UpstreamFailure`. */
    open: (request: RouteRequest) => open(state, request),
    close: () => connections.close(),
  }
}

async function open(state: State, request: RouteRequest): Promise<OpenAnswer> {
  const { clock, name, outcomes, liveness, permits, pace } = state
  const leave = await permits.enter(request.signal).catch((cause: unknown) => {
    throw new UpstreamFailure('rate_limited', 'all requests that this API takes at the same time are in use', { cause })
  })
  if (pace?.isFull() === true) {
    leave()
    throw new UpstreamFailure('rate_limited', `${name} has been asked as often as it allows`)
  }
  const [late, over] = [new AbortController(), new AbortController()]
  clock.sleep(request.timeoutMs, over.signal).then(
    () => late.abort(),
    // The sleep was cancelled, because the answer began or ended in time.
    () => undefined,
  )
  const signal = AbortSignal.any([late.signal, request.signal])
  let isOver = false
  const end = (error?: unknown): UpstreamFailure | undefined => {
    if (isOver) return undefined
    isOver = true
    over.abort()
    leave()
    const failure = error === undefined ? undefined : asFailure({ ...request, signal }, state, error)
    if (failure === undefined) {
      outcomes.noteSuccess(itemOf(request))
      liveness.noteAnswer(name)
      return undefined
    }
    outcomes.noteFailure(failure, isByOrder(failure) ? itemOf(request) : undefined)
    // A resting upstream received no request, so the failure is not evidence about it.
    if (failure.kind !== 'resting') liveness.noteFailure(name, failure)
    return failure
  }
  try {
    if (outcomes.breaker.isOpen()) throw new UpstreamFailure('resting', `${name} is left alone for a while`)
    outcomes.breaker.enter()
    const response = await sendInTries(state, request, signal)
    return {
      response,
      keepReading: () => over.abort(),
      end(error) {
        const failure = end(error)
        // Close a connection whose answer was not read completely, because it cannot be reused.
        if (!response.readableEnded) response.destroy()
        return failure
      },
    }
  } catch (error) {
    throw end(error) ?? error
  }
}

async function sendInTries(state: State, request: RouteRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const triesMax = request.isIdempotent ? 2 : 1
  for (let tries = 1; ; tries++) {
    try {
      return await send(state, request, signal)
    } catch (error) {
      if (tries >= triesMax || signal.aborted || state.pace?.isFull() === true) throw error
    }
  }
}

function send(state: State, request: RouteRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const { origin, entry, version, connections, pace } = state
  pace?.take()
  const { method, target, body, headers } = request
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  return connections.exchange({
    origin,
    method,
    // An MCP server is at its URL exactly, also with a slash at the end.
    target: target === '' ? origin.pathname : origin.pathname.replace(/\/$/, '') + target,
    // The operator's headers override the headers of the route. They cannot override the last headers, because the
    // client decodes no answer and sends the exact length of the body.
    headers: {
      'user-agent': `Tollbook/${version}`,
      ...headers,
      ...entry.headers,
      'accept-encoding': 'identity',
      ...length,
    },
    body,
    signal,
  })
}

function asFailure({ timeoutMs, signal }: RouteRequest, { name }: State, error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  if (error instanceof TooLong) return new UpstreamFailure('bad_payload', error.message)
  if (signal.aborted) return new UpstreamFailure('timeout', `${name} did not answer within ${timeoutMs} ms`)
  // Omit the cause, because it can quote an address or a header with a key.
  return new UpstreamFailure('upstream', `${name} cannot be reached: ${errorCode(error) ?? 'no code'}`)
}

/**
 * Identifies a request. Failures that an order may have caused are counted per request, because one order must not
 * close the routes for other callers.
 */
function itemOf({ method, target, body = '' }: RouteRequest): string {
  return sha256Hex(`${method} ${target} ${String(body)}`)
}

/** True if the order itself may have caused the failure. A refused connection is never caused by the order. */
function isByOrder({ kind, message }: UpstreamFailure): boolean {
  return kind === 'bad_payload' || kind === 'timeout' || message.includes('HTTP 5')
}

/**
 * Checks whether an upstream works. With a `health` path, only a 2xx status is accepted. Otherwise, every answer proves
 * that the upstream works, except 502, 503 and 504 from a proxy.
 */
async function probe(state: State): Promise<boolean> {
  const { health } = state.entry
  const signal = AbortSignal.timeout(probeMsMax)
  const [method, target] = health === undefined ? ['HEAD', '/'] : ['GET', health]
  const request = { method, target, headers: {}, signal, timeoutMs: probeMsMax, isIdempotent: true }
  try {
    const response = await send(state, request, signal)
    // The status decides, so the body is not read.
    response.destroy()
    const { statusCode = 0 } = response
    const isWorking =
      health === undefined ? ![502, 503, 504].includes(statusCode) : statusCode >= 200 && statusCode < 300
    if (!isWorking) throw new UpstreamFailure('upstream', `${state.name} answered a probe with HTTP ${statusCode}`)
    return true
  } catch (error) {
    throw asFailure(request, state, error)
  }
}

import type { Clock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import type { Log } from '../primitives/log.ts'
import { type Breaker, breakerRestMs, createBreaker } from './breaker.ts'
import { createPace, type Pace, type PaceLimit } from './pace.ts'
import { readBytes, TooLong } from './readBytes.ts'
import { retryAfterMsOf } from './retryAfter.ts'
import { isVerdict, speaksAgainst, UpstreamFailure } from './upstreamFailure.ts'

/**
 * One provider. All protection of the provider from us, and of us from the provider, is in here and not in an adapter.
 */
export interface Upstream {
  readonly name: string
  /** Undefined when it can be asked now; otherwise why not. */
  whyResting(): string | undefined
  /**
   * Asks, and has `read` make an answer of the reply; what `read` throws counts against the provider, unless it is a
   * verdict or only this one answer is incomplete. Throws only `UpstreamFailure`, at the latest when the time is up.
   */
  ask<T>(request: UpstreamRequest, read: (reply: Reply) => T): Promise<T>
}

export interface UpstreamRequest {
  /** Appended to the base; begins with a slash. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** JSON to post; without it the request is a GET. */
  readonly body?: string
  /** Aborted when the caller no longer waits. */
  readonly signal?: AbortSignal
}

/** Any answer with any status: many providers report errors in the body and not in the status. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface UpstreamLimits {
  /** The provider's published limit, or less. Requests beyond it are not sent. Undefined: only the provider limits us. */
  readonly pace?: PaceLimit
  /** For everything that `ask` does, a second try included. */
  readonly timeoutMs?: number
  readonly bytesMax?: number
  /** Default: 2. One for requests that must not be made twice. */
  readonly triesMax?: number
}

export interface UpstreamDeps {
  readonly clock: Clock
  readonly log: Log
  readonly version: string
  /** Contact for the provider's operators: what a good User-Agent has. */
  readonly contact: string
  readonly onCall: (call: { readonly upstream: string; readonly outcome: string }) => void
}

export interface UpstreamOptions extends UpstreamLimits {
  readonly name: string
  readonly base: URL
  /** Sent with each request: keys, a browser's User-Agent where nothing else is served. */
  readonly headers?: Readonly<Record<string, string>>
  /** True: `read` gets every status but redirects, and decides itself about 429 and 5xx. */
  readonly readsFailures?: boolean
  /** The shortest rest after a request to wait. Default: 5 s. */
  readonly pauseMinMs?: number
  /** Pause that a 429 requests in its body and not in Retry-After. */
  readonly pauseMs?: (reply: Reply) => number
}

const timeoutMsDefault = 4_000
const bytesMaxDefault = 256 * 1024
const pauseMaxMs = 15 * 60 * 1000
// Some send 0 and mean it, some send nothing: a limit that was hit once is hit again immediately.
const pauseMinMsDefault = 5_000
// A second try helps against one lost connection and makes an outage worse, so there are few of them.
const triesMaxDefault = 2
const retryPace = { requests: 6, perSeconds: 60 }
const retryPauseMs = 100

interface State extends UpstreamDeps {
  readonly options: UpstreamOptions
  readonly breaker: Breaker
  readonly pace: Pace | undefined
  readonly retries: Pace
}

export function createUpstream(deps: UpstreamDeps, options: UpstreamOptions): Upstream {
  const { clock } = deps
  const state: State = {
    ...deps,
    options,
    breaker: createBreaker(clock),
    pace: options.pace && createPace(clock, options.pace),
    retries: createPace(clock, retryPace),
  }
  return {
    name: options.name,
    whyResting: () => whyRefused(state)?.message,
    ask: (request, read) => ask(state, request, read),
  }
}

function whyRefused({ options: { name }, breaker, pace }: State): UpstreamFailure | undefined {
  if (breaker.isOpen()) return new UpstreamFailure('resting', `${name} has failed and is left alone for a while`)
  if (pace?.isFull() === true)
    return new UpstreamFailure('rate_limited', `${name} has been asked as often as it allows`)
  return undefined
}

async function ask<T>(state: State, request: UpstreamRequest, read: (reply: Reply) => T): Promise<T> {
  const { options, breaker, log, onCall } = state
  const refused = whyRefused(state)
  if (refused !== undefined) {
    onCall({ upstream: options.name, outcome: refused.kind })
    throw refused
  }
  breaker.enter()
  try {
    const answer = await tryAgain(state, request, read)
    if (breaker.succeeded()) log.info({ event: 'upstream_recovered', upstream: options.name })
    onCall({ upstream: options.name, outcome: 'answered' })
    return answer
  } catch (error) {
    const failure = asFailure(error, options.name)
    onCall({ upstream: options.name, outcome: failure.kind })
    learn(state, failure)
    throw failure
  }
}

function asFailure(error: unknown, name: string): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  // An adapter that fails on an answer has met an undocumented shape.
  return new UpstreamFailure('bad_payload', `${name} sent what we cannot read`, { cause: error })
}

function learn(
  { options: { name, pauseMinMs = pauseMinMsDefault }, breaker, log }: State,
  failure: UpstreamFailure,
): void {
  const { kind, retryAfterMs = 0 } = failure
  if (kind === 'rate_limited' || retryAfterMs > 0)
    breaker.rest(Math.min(Math.max(retryAfterMs, pauseMinMs), pauseMaxMs))
  if (!isVerdict(failure)) log.info({ event: 'upstream_failed', upstream: name, kind, error: describeError(failure) })
  if (!speaksAgainst(failure)) breaker.succeeded()
  else if (breaker.failed()) log.warn({ event: 'upstream_resting', upstream: name, restMs: breakerRestMs })
}

async function tryAgain<T>(state: State, request: UpstreamRequest, read: (reply: Reply) => T): Promise<T> {
  const { clock, pace, retries, options } = state
  const { timeoutMs = timeoutMsDefault, triesMax = triesMaxDefault } = options
  const late = AbortSignal.timeout(timeoutMs)
  const signal = request.signal === undefined ? late : AbortSignal.any([late, request.signal])
  for (let attempt = 1; ; attempt++) {
    pace?.take()
    try {
      return read(await fetchReply(state, request, signal))
    } catch (error) {
      if (attempt >= triesMax || signal.aborted || !mayHelp(error) || pace?.isFull() === true || !retries.take())
        throw error
      // Between half and one and a half of it, so that instances that failed together do not retry together.
      await clock.sleep(retryPauseMs * (0.5 + (clock.monotonicMs() % 1)))
    }
  }
}

/** Only what may be over in a moment; never a limit, and never a time-out, which has used up the time. */
function mayHelp(error: unknown): boolean {
  return error instanceof UpstreamFailure && error.kind === 'upstream' && error.retryAfterMs === undefined
}

async function fetchReply(state: State, request: UpstreamRequest, signal: AbortSignal): Promise<Reply> {
  const { name, headers, timeoutMs = timeoutMsDefault, bytesMax = bytesMaxDefault } = state.options
  try {
    const { body } = request
    const response = await fetch(urlOf(state.options, request), {
      ...(body === undefined ? {} : { method: 'POST', body }),
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        'user-agent': `Tollbook/${state.version} (+${state.contact})`,
        ...headers,
        ...request.headers,
      },
      redirect: 'manual',
      signal,
    })
    const failure = whyUnread(state, response)
    if (failure !== undefined) {
      // The body is not read, and an open body would hold the connection.
      await response.body?.cancel()
      throw failure
    }
    const text = new TextDecoder().decode(await readBytes(response, bytesMax))
    const reply = { status: response.status, headers: response.headers, text }
    if (reply.status === 429 && state.options.readsFailures !== true) throw rateLimited(state, reply)
    return reply
  } catch (error) {
    if (error instanceof UpstreamFailure) throw error
    if (error instanceof TooLong) throw new UpstreamFailure('bad_payload', `${name}: ${error.message}`)
    if (signal.aborted) throw new UpstreamFailure('timeout', `${name} did not answer within ${timeoutMs} ms`)
    // The cause is not passed on: what fetch says of a header or an address that it dislikes quotes it, key and all.
    throw new UpstreamFailure('upstream', `${name} cannot be reached: ${networkCodeOf(error)}`)
  }
}

const redirects = new Set([301, 302, 303, 307, 308])

/** Outcome by status alone, for any body. */
function whyUnread({ options, clock }: State, { status, headers }: Response): UpstreamFailure | undefined {
  const { name, readsFailures = false } = options
  if (status >= 500 && !readsFailures) {
    const retryAfterMs = retryAfterMsOf(headers, clock)
    return new UpstreamFailure('upstream', `${name} answered HTTP ${status}`, { retryAfterMs })
  }
  // A provider has no reason to send us elsewhere, and elsewhere might be inside.
  if (redirects.has(status)) return new UpstreamFailure('bad_payload', `${name} redirects us: HTTP ${status}`)
  return undefined
}

function rateLimited({ options: { name, pauseMs }, clock }: State, reply: Reply): UpstreamFailure {
  const retryAfterMs = Math.max(retryAfterMsOf(reply.headers, clock) ?? 0, pauseMs?.(reply) ?? 0)
  return new UpstreamFailure('rate_limited', `${name} asks us to wait`, { retryAfterMs })
}

function urlOf({ base }: UpstreamOptions, { path, query = {} }: UpstreamRequest): URL {
  const url = new URL(base)
  url.pathname = url.pathname.replace(/\/$/, '') + path
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value)
  return url
}

const causesMax = 5

/** `ECONNREFUSED` and its like, which sit a few causes deep. */
export function networkCodeOf(error: unknown): string {
  let current = error
  for (let depth = 0; depth < causesMax && current instanceof Error; depth++) {
    if ('code' in current && typeof current.code === 'string') return current.code
    current = current.cause
  }
  return 'no code'
}

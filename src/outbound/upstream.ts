import {
  type CircuitBreakerPolicy,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhen,
  isBrokenCircuitError,
} from 'cockatiel'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Clock } from '../primitives/clock.ts'
import { describeError } from '../primitives/fault.ts'
import type { Log } from '../primitives/log.ts'
import { readBytes, TooLong } from './readBytes.ts'
import { isVerdict, UpstreamFailure } from './upstreamFailure.ts'

/** One provider as we reach it. What keeps it from hurting us, and us from hurting it, is in here and not in an adapter. */
export interface Upstream {
  readonly name: string
  /** Undefined when it can be asked now; otherwise why not. */
  whyResting(): string | undefined
  /**
   * Asks, and has `read` make an answer of the reply; what `read` throws counts against the provider unless it is a
   * verdict. Throws only `UpstreamFailure`.
   */
  ask<T>(request: UpstreamRequest, read: (reply: Reply) => T): Promise<T>
}

export interface UpstreamRequest {
  /** Appended to the base; begins with a slash. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** Of whoever asks: at a shutdown nobody waits for a provider. */
  readonly signal?: AbortSignal
}

/** Whatever came back, of any status: many providers say the truth in the body and not in the status. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface UpstreamLimits {
  /** The provider's published limit, or less. Beyond it we do not ask. */
  readonly pace: { readonly requests: number; readonly perSeconds: number }
  readonly timeoutMs?: number
  readonly bytesMax?: number
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
  /** How long its 429 asks us to wait, where it says so in the body and not in Retry-After. */
  readonly pauseMs?: (reply: Reply) => number
}

const timeoutMsDefault = 4_000
const bytesMaxDefault = 256 * 1024
const failuresMax = 5
const restMs = 30_000
const pauseMaxMs = 15 * 60 * 1000
// A second try helps against one lost connection and makes an outage worse, so there are few of them.
const triesMax = 2
const retryBudget = { points: 6, duration: 60 }
const retryPauseMs = 200

interface State extends UpstreamDeps {
  readonly options: UpstreamOptions
  readonly breaker: CircuitBreakerPolicy
  readonly pacer: RateLimiterMemory
  readonly retries: RateLimiterMemory
  /** Until then nobody is asked: it failed too often, or it asked for a pause. */
  restsUntilMs: number
}

export function createUpstream(deps: UpstreamDeps, options: UpstreamOptions): Upstream {
  const { pace } = options
  const breaker = circuitBreaker(
    handleWhen((error) => !(error instanceof UpstreamFailure && isVerdict(error))),
    { halfOpenAfter: restMs, breaker: new ConsecutiveBreaker(failuresMax) },
  )
  const state: State = {
    ...deps,
    options,
    breaker,
    pacer: new RateLimiterMemory({ points: pace.requests, duration: pace.perSeconds }),
    retries: new RateLimiterMemory(retryBudget),
    restsUntilMs: 0,
  }
  breaker.onBreak(() => {
    rest(state, restMs)
    deps.log.warn({ event: 'upstream_resting', upstream: options.name, restMs })
  })
  breaker.onReset(() => deps.log.info({ event: 'upstream_recovered', upstream: options.name }))
  return {
    name: options.name,
    whyResting: () =>
      deps.clock.nowMs() < state.restsUntilMs ? `${options.name} has failed and is left alone for a while` : undefined,
    ask: (request, read) => ask(state, request, read),
  }
}

function rest(state: State, durationMs: number): void {
  state.restsUntilMs = Math.max(state.restsUntilMs, state.clock.nowMs() + Math.min(durationMs, pauseMaxMs))
}

async function ask<T>(state: State, request: UpstreamRequest, read: (reply: Reply) => T): Promise<T> {
  const { name } = state.options
  try {
    if (state.clock.nowMs() < state.restsUntilMs) throw new UpstreamFailure('resting', `${name} is left alone`)
    const answer = await state.breaker.execute(() => tryTwice(state, request, read))
    state.onCall({ upstream: name, outcome: 'answered' })
    return answer
  } catch (error) {
    const failure = asFailure(error, name)
    if (failure.retryAfterMs !== undefined) rest(state, failure.retryAfterMs)
    state.onCall({ upstream: name, outcome: failure.kind })
    if (!isVerdict(failure) && failure.kind !== 'resting')
      state.log.info({ event: 'upstream_failed', upstream: name, kind: failure.kind, error: describeError(failure) })
    throw failure
  }
}

function asFailure(error: unknown, name: string): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  if (isBrokenCircuitError(error)) return new UpstreamFailure('resting', `${name} is left alone`)
  // An adapter that trips over an answer has met a shape that nobody promised.
  return new UpstreamFailure('bad_payload', `${name} sent what we cannot read`, { cause: error })
}

async function tryTwice<T>(state: State, request: UpstreamRequest, read: (reply: Reply) => T): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return read(await fetchReply(state, request))
    } catch (error) {
      if (attempt >= triesMax || !mayHelp(error) || !(await take(state.retries))) throw error
      await state.clock.sleep(retryPauseMs * (0.5 + (state.clock.monotonicMs() % 1)))
    }
  }
}

/** Only what may be over in a moment; never a limit, and never a time-out, which has used up the time. */
function mayHelp(error: unknown): boolean {
  return error instanceof UpstreamFailure && error.kind === 'upstream'
}

async function take(limiter: RateLimiterMemory): Promise<boolean> {
  try {
    await limiter.consume('all')
    return true
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return false
    throw refused
  }
}

async function fetchReply(state: State, request: UpstreamRequest): Promise<Reply> {
  const { name, timeoutMs = timeoutMsDefault, bytesMax = bytesMaxDefault } = state.options
  if (!(await take(state.pacer))) throw new UpstreamFailure('rate_limited', `${name}: we ask no faster than it allows`)
  const signals = [AbortSignal.timeout(timeoutMs), ...(request.signal === undefined ? [] : [request.signal])]
  const signal = AbortSignal.any(signals)
  try {
    const response = await fetch(urlOf(state.options, request), {
      headers: {
        accept: 'application/json',
        'user-agent': `Tollbook/${state.version} (+${state.contact})`,
        ...state.options.headers,
        ...request.headers,
      },
      // A provider has no reason to send us elsewhere, and elsewhere might be inside.
      redirect: 'error',
      signal,
    })
    const bytes = await readBytes(response, bytesMax)
    const reply = { status: response.status, headers: response.headers, text: bytes.toString('utf8') }
    if (reply.status === 429) throw rateLimited(state, reply)
    if (reply.status >= 500) throw new UpstreamFailure('upstream', `${name} answered HTTP ${reply.status}`)
    return reply
  } catch (error) {
    if (error instanceof UpstreamFailure) throw error
    if (error instanceof TooLong) throw new UpstreamFailure('bad_payload', `${name}: ${error.message}`)
    if (signal.aborted) throw new UpstreamFailure('timeout', `${name} did not answer within ${timeoutMs} ms`)
    throw new UpstreamFailure('upstream', `${name} cannot be reached`, { cause: error })
  }
}

function urlOf({ base }: UpstreamOptions, { path, query = {} }: UpstreamRequest): URL {
  const url = new URL(base)
  url.pathname = url.pathname.replace(/\/$/, '') + path
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value)
  return url
}

// Some say 0 and mean it, some say nothing: a limit that was hit once is hit again at once.
const pauseMinMs = 5_000

function rateLimited({ options, clock }: State, reply: Reply): UpstreamFailure {
  const given = reply.headers.get('retry-after') ?? ''
  const seconds = /^\d{1,6}$/.test(given) ? Number(given) : (Date.parse(given) - clock.nowMs()) / 1000
  const askedMs = Number.isFinite(seconds) ? seconds * 1000 : 0
  return new UpstreamFailure('rate_limited', `${options.name} asks us to wait`, {
    retryAfterMs: Math.max(askedMs, options.pauseMs?.(reply) ?? 0, pauseMinMs),
  })
}

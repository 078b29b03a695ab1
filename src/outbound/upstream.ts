import { createOutcomes, type OutcomeDeps, type Outcomes } from './breaker.ts'
import {
  type UpstreamRequestDeps,
  type UpstreamRequestOptions,
  fetchReply,
  readReply,
  type Reply,
  send,
  timeoutMsDefault,
  unreachable,
  type UpstreamRequest,
} from './upstreamRequest.ts'
import { createPace, type Pace, type PaceLimit } from './pace.ts'
import { bounded } from './readBytes.ts'
import { UpstreamFailure } from '../product/upstreamFailure.ts'

/** Enforces the limits that protect the provider and this service, so that adapters need none. */
export interface Upstream {
  readonly name: string
  /** Undefined: only the provider's own limit applies. */
  readonly pace: PaceLimit | undefined
  /** Undefined: the provider is available. */
  whyResting(): string | undefined
  /**
   * An error that `read` throws counts against the provider, unless the item is missing or the answer is only
   * incomplete. Throws only `UpstreamFailure`, at the latest when the time limit ends.
   */
  ask<T>(request: UpstreamRequest, read: (reply: Reply) => T): Promise<T>
  /**
   * Never retries. The time limit applies until the first byte, and later only `signal` can end the request. The
   * outcome is recorded at the end, so a reader must read to the end or close the generator.
   */
  stream<T, R>(request: UpstreamRequest, reading: StreamReading<T, R>): AsyncGenerator<T, R, void>
}

export interface StreamReading<T, R> {
  read(body: AsyncIterable<Uint8Array>): AsyncGenerator<T, R, void>
  /** For a reply without a 2xx status: returns a result, or throws. */
  refuse(reply: Reply): R
}

export interface UpstreamLimits extends Pick<UpstreamRequestOptions, 'timeoutMs' | 'bytesMax'> {
  /**
   * The provider's published limit, or a lower limit. Requests beyond the limit are not sent. Absent: only the
   * provider's own limit applies.
   */
  readonly pace?: PaceLimit
  /** Default: 2. Use 1 for requests that must not be sent twice. */
  readonly triesMax?: number
}

export interface UpstreamDeps extends Omit<UpstreamRequestDeps, 'options'>, Pick<OutcomeDeps, 'log' | 'onCall'> {}

export interface UpstreamOptions extends UpstreamLimits, UpstreamRequestOptions, Pick<OutcomeDeps, 'pauseMinMs'> {}

// A second try helps after a lost connection. More tries would make an outage worse.
const triesMaxDefault = 2
const retryPace = { requests: 6, perSeconds: 60 }
const retryPauseMs = 100

interface State extends UpstreamDeps {
  readonly options: UpstreamOptions
  readonly outcomes: Outcomes
  readonly pace: Pace | undefined
  readonly retries: Pace
}

/** Every failure is thrown as `UpstreamFailure`. */
export function createUpstream(deps: UpstreamDeps, options: UpstreamOptions): Upstream {
  const { clock } = deps
  const state: State = {
    ...deps,
    options,
    outcomes: createOutcomes({ ...deps, ...options }),
    pace: options.pace && createPace(clock, options.pace),
    retries: createPace(clock, retryPace),
  }
  return {
    name: options.name,
    pace: options.pace,
    whyResting: () => whyRefused(state)?.message,
    ask: (request, read) => ask(state, request, read),
    stream: (request, reading) => stream(state, request, reading),
  }
}

function whyRefused({ options: { name }, outcomes: { breaker }, pace }: State): UpstreamFailure | undefined {
  if (breaker.isOpen()) return new UpstreamFailure('resting', `${name} has failed and is left alone for a while`)
  if (pace?.isFull() === true)
    return new UpstreamFailure('rate_limited', `${name} has been asked as often as it allows`)
  return undefined
}

async function ask<T>(state: State, request: UpstreamRequest, read: (reply: Reply) => T): Promise<T> {
  enter(state)
  try {
    const answer = await askInTries(state, request, read)
    state.outcomes.noteSuccess(itemOf(request))
    return answer
  } catch (error) {
    throw noteFailure(state, request, error)
  }
}

async function* stream<T, R>(
  state: State,
  request: UpstreamRequest,
  { read, refuse }: StreamReading<T, R>,
): AsyncGenerator<T, R, void> {
  const { clock, pace, options } = state
  const { name, timeoutMs = timeoutMsDefault } = options
  enter(state)
  pace?.take()
  const [late, begun, closed] = [new AbortController(), new AbortController(), new AbortController()]
  const stopTimer = () => begun.abort()
  clock.sleep(timeoutMs, begun.signal).then(() => late.abort(), stopTimer)
  const signals = [late.signal, closed.signal, ...(request.signal === undefined ? [] : [request.signal])]
  let failure: UpstreamFailure | undefined
  try {
    const response = await send(state, request, AbortSignal.any(signals))
    if (!response.ok) return refuse(await readReply(state, response))
    return yield* read(bodyOf(response, stopTimer))
  } catch (error) {
    // The provider did not fail if the caller ended the stream after its start.
    if (request.signal?.aborted === true && begun.signal.aborted)
      throw new UpstreamFailure('timeout', `${name} was cut`)
    failure = noteFailure(state, request, unreachable(state, error, late.signal))
    throw failure
  } finally {
    stopTimer()
    // A reader that stops waiting for a silent body would otherwise leave a pending read.
    closed.abort()
    if (failure === undefined) state.outcomes.noteSuccess(itemOf(request))
  }
}

// Enough for 32,768 tokens, the longest configurable output, with 200 bytes of JSON around each token.
const streamBytesMax = 16 * 1024 * 1024

async function* bodyOf({ body }: Response, onFirst: () => void): AsyncGenerator<Uint8Array> {
  if (body === null) return
  for await (const chunk of bounded(body, streamBytesMax)) {
    onFirst()
    yield chunk
  }
}

function enter(state: State): void {
  const refused = whyRefused(state)
  if (refused !== undefined) {
    state.onCall({ upstream: state.options.name, outcome: refused.kind })
    throw refused
  }
  state.outcomes.breaker.enter()
}

function noteFailure(state: State, request: UpstreamRequest, error: unknown): UpstreamFailure {
  const failure = asFailure(error, state.options.name)
  state.outcomes.noteFailure(failure, failure.kind === 'bad_payload' ? itemOf(request) : undefined)
  return failure
}

function itemOf({ path, query = {}, body = '' }: UpstreamRequest): string {
  return JSON.stringify([path, query, body])
}

function asFailure(error: unknown, name: string): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  // Any other error means that the adapter could not read the answer.
  return new UpstreamFailure('bad_payload', `${name} sent what we cannot read`, { cause: error })
}

async function askInTries<T>(state: State, request: UpstreamRequest, read: (reply: Reply) => T): Promise<T> {
  const { clock, pace, retries, options } = state
  const { timeoutMs = timeoutMsDefault, triesMax = triesMaxDefault } = options
  const late = AbortSignal.timeout(timeoutMs)
  const signal = request.signal === undefined ? late : AbortSignal.any([late, request.signal])
  pace?.take()
  for (let tries = 1; ; tries++) {
    try {
      return read(await fetchReply(state, request, signal))
    } catch (error) {
      if (tries >= triesMax || signal.aborted || !mayHelp(error) || pace?.isFull() === true || !retries.take())
        throw error
      // Vary the pause from 50 % to 150 %, so that instances that failed together do not retry together.
      await clock.sleep(retryPauseMs * (0.5 + (clock.monotonicMs() % 1)))
      // Other requests may have used up the pace meanwhile.
      if (pace?.take() === false) throw error
    }
  }
}

/** True if a retry may succeed. It cannot after a rate limit, and no time is left for it after a time-out. */
function mayHelp(error: unknown): boolean {
  return error instanceof UpstreamFailure && error.kind === 'upstream' && error.retryAfterMs === undefined
}

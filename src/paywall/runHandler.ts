import { createHash } from 'node:crypto'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Order } from '../payment/payment.ts'
import type { Settlement } from '../payment/settlement.ts'
import type { Failure, Job, CheckedOrder, Stream } from '../product/product.ts'
import type { Metering } from './chargeByUse.ts'
import { type WholeAnswer, wholeAnswer } from './rawFormat.ts'

export interface HandlerDeps {
  readonly clock: Clock
  /** Shorter than the lease, so that an attempt has ended before another attempt can take over. */
  readonly handlerTimeoutMs: number
}

export interface RunningStream extends Omit<Stream, 'chunks'> {
  readonly reader: StreamReader
}

/** `broken`: the handler threw an error that is not a `Fault`, which is a bug. */
export type AttemptOutcome =
  | WholeAnswer
  | RunningStream
  | Failure
  | { readonly kind: 'broken'; readonly error: unknown }

export interface ClaimedRun extends Pick<Job, 'requestId'> {
  readonly order: Pick<Order, 'wallet'>
  readonly settlement: Pick<Settlement, 'reference' | 'price'>
  readonly metering: Pick<Metering, 'price'> | undefined
}

/** Always returns an outcome, so that every claim ends. */
export async function runHandler(deps: HandlerDeps, ordered: CheckedOrder, run: ClaimedRun): Promise<AttemptOutcome> {
  const { clock, handlerTimeoutMs } = deps
  const late = new AbortController()
  const ended = new AbortController()
  const deadline = clock.sleep(handlerTimeoutMs, ended.signal).then(
    () => late.abort(),
    // The handler finished before the deadline, so do nothing.
    () => undefined,
  )
  try {
    const { requestId, order, settlement, metering } = run
    const { reference: payment, price } = settlement
    const metered =
      metering === undefined ? {} : { metered: { price: metering.price, budgetMicroUsd: price.priceMicroUsd } }
    const job = { requestId, payer: order.wallet, payment, price, ...metered, signal: late.signal }
    const delivery = ordered.deliver(job)
    const outcome = await Promise.race([delivery, deadline.then(() => tooLate(handlerTimeoutMs))])
    if (outcome.kind === 'failed') return outcome
    if (outcome.kind !== 'stream') return wholeAnswer(outcome)
    const source = { chunks: outcome.chunks, abort: () => late.abort() }
    return { ...outcome, reader: createStreamReader(clock, source, { ...streamBounds, timeMaxMs: handlerTimeoutMs }) }
  } catch (error) {
    if (late.signal.aborted) return tooLate(handlerTimeoutMs)
    if (!(error instanceof Fault)) return { kind: 'broken', error }
    const message = 'the provider of this answer failed; repeat with the same proof'
    return { kind: 'failed', code: 'UPSTREAM_FAILED', message }
  } finally {
    ended.abort(isOver)
  }
}

// Reason for the abort. Without a reason, `abort` creates a DOMException with a stack, which took 2 % of the CPU time
// of a debit.
const isOver = 'the handler has ended'

function tooLate(handlerTimeoutMs: number): Failure {
  return { kind: 'failed', code: 'UPSTREAM_TIMEOUT', message: `the answer was not ready within ${handlerTimeoutMs} ms` }
}

export type StreamReader = ReturnType<typeof createStreamReader>

/** A stream longer than `storedBytesMax` is delivered, but the service cannot send it again. */
export interface StreamBounds {
  readonly bytesMax: number
  /** Total time of the provider. It excludes the time in which the caller does not read. */
  readonly timeMaxMs: number
  readonly storedBytesMax: number
}

// An hour of speech as text has about 60 kB. An answer of at most `storedBytesMax` is stored outside the log for a
// replay, for at most a day.
const streamBounds = { bytesMax: 8 * 1024 * 1024, storedBytesMax: 256 * 1024 }

export interface StreamSource extends Pick<Stream, 'chunks'> {
  readonly abort: () => void
}

/** Reads one chunk at a time, so that a slow caller slows the provider down. */
export function createStreamReader(clock: Clock, source: StreamSource, bounds: StreamBounds) {
  const { bytesMax, timeMaxMs, storedBytesMax } = bounds
  const iterator = source.chunks[Symbol.asyncIterator]()
  const hash = createHash('sha256')
  let bytes = 0
  let spentMs = 0
  let stored: Uint8Array[] | undefined = []
  let over: (() => undefined) | undefined

  async function nextInTime(): Promise<IteratorResult<Uint8Array>> {
    const startedAtMs = clock.monotonicMs()
    const ended = new AbortController()
    const late = clock.sleep(Math.max(0, timeMaxMs - spentMs), ended.signal).then(
      () => undefined,
      () => undefined,
    )
    const reading = iterator.next()
    // Ignore the failure of a read after its deadline, because the result of the read is not used.
    reading.catch(() => undefined)
    try {
      const step = await Promise.race([reading, late])
      if (step !== undefined) return step
      throw new Fault(`the provider did not complete the answer within ${timeMaxMs} ms`, { retryable: false })
    } finally {
      ended.abort(isOver)
      spentMs += clock.monotonicMs() - startedAtMs
    }
  }

  async function read(): Promise<Uint8Array | undefined> {
    const { done, value } = await nextInTime()
    if (done === true) return undefined
    if (bytes + value.length > bytesMax)
      throw new Fault(`the answer is longer than ${bytesMax} bytes`, { retryable: false })
    bytes += value.length
    hash.update(value)
    if (bytes > storedBytesMax) stored = undefined
    stored?.push(value)
    return value
  }

  return {
    /** Undefined at the end. Throws if the provider fails or a limit is exceeded. */
    async next(): Promise<Uint8Array | undefined> {
      if (over !== undefined) return over()
      try {
        const chunk = await read()
        if (chunk === undefined) over = () => undefined
        return chunk
      } catch (error) {
        over = () => {
          throw error
        }
        throw error
      }
    },
    bytes: () => bytes,
    digest: () => hash.copy().digest('hex'),
    /** Undefined if the bytes exceed the limit for a replay. */
    stored: () => (stored === undefined ? undefined : Buffer.concat(stored)),
    abort(): void {
      source.abort()
      // Do not wait for the provider to end, because an unresponsive provider might never end.
      iterator.return?.().catch(() => undefined)
    },
  }
}

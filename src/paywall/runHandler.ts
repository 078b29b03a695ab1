import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Failure, Job, Ordered, Stream, Value } from '../product/product.ts'

export interface HandlerDeps {
  readonly clock: Clock
  /** Shorter than the lease, so that an attempt has ended before another may take over. */
  readonly handlerTimeoutMs: number
}

/** A stream whose provider still works. `abort` stops it. */
export interface RunningStream extends Stream {
  readonly abort: () => void
}

/** `broken`: the handler threw. That is a bug and not an answer; the claim is released nevertheless. */
export type Attempted = Value | RunningStream | Failure | { readonly kind: 'broken'; readonly error: unknown }

/** The buyer and the payment of one run. */
export type OrderInHand = Omit<Job, 'signal'>

/** Runs the handler to its deadline and always returns an outcome, so that a claim is never left open. */
export async function runHandler(deps: HandlerDeps, ordered: Ordered, order: OrderInHand): Promise<Attempted> {
  const { clock, handlerTimeoutMs } = deps
  const late = new AbortController()
  const ended = new AbortController()
  const deadline = clock.sleep(handlerTimeoutMs, ended.signal).then(
    () => late.abort(),
    // The handler was faster.
    () => undefined,
  )
  try {
    const delivery = ordered.deliver({ ...order, signal: late.signal })
    const outcome = await Promise.race([delivery, deadline.then(() => tooLate(handlerTimeoutMs))])
    return outcome.kind === 'stream' ? { ...outcome, abort: () => late.abort() } : outcome
  } catch (error) {
    if (late.signal.aborted) return tooLate(handlerTimeoutMs)
    if (!(error instanceof Fault)) return { kind: 'broken', error }
    const message = 'the provider of this answer failed; repeat with the same proof'
    return { kind: 'failed', code: 'UPSTREAM_FAILED', message }
  } finally {
    ended.abort()
  }
}

function tooLate(handlerTimeoutMs: number): Failure {
  return { kind: 'failed', code: 'UPSTREAM_TIMEOUT', message: `the answer was not ready within ${handlerTimeoutMs} ms` }
}

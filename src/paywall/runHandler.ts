import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Order } from '../payment/payment.ts'
import type { Settlement } from '../payment/settlement.ts'
import type { Failure, Job, CheckedOrder, Stream, Value } from '../product/product.ts'

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
export type AttemptOutcome = Value | RunningStream | Failure | { readonly kind: 'broken'; readonly error: unknown }

/** The claim that a run fulfils. */
export interface ClaimedRun extends Pick<Job, 'requestId'> {
  readonly order: Pick<Order, 'wallet'>
  readonly settlement: Pick<Settlement, 'reference'>
}

/** Runs the handler to its deadline and always returns an outcome, so that a claim is never left open. */
export async function runHandler(deps: HandlerDeps, ordered: CheckedOrder, run: ClaimedRun): Promise<AttemptOutcome> {
  const { clock, handlerTimeoutMs } = deps
  const late = new AbortController()
  const ended = new AbortController()
  const deadline = clock.sleep(handlerTimeoutMs, ended.signal).then(
    () => late.abort(),
    // The handler was faster.
    () => undefined,
  )
  try {
    const { requestId, order, settlement } = run
    const job = { requestId, payer: order.wallet, payment: settlement.reference, signal: late.signal }
    const delivery = ordered.deliver(job)
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

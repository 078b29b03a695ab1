import { assertNever, Bug } from '@tollbook/core/assert'
import { canonicalJson } from '@tollbook/core/canonicalJson'
import type { Clock } from '@tollbook/core/clock'
import { sha256Hex } from '@tollbook/core/digest'
import { describeError, Fault } from '@tollbook/core/fault'
import type { Log } from '../primitives/log.ts'
import type { FailureReason } from '../payment/events/attemptEvents.ts'
import { decideFulfil, decideRelease } from '../payment/payment.ts'
import type { PaymentLedger } from '../payment/paymentLedger.ts'
import type { Fulfilment } from '../payment/receipt.ts'
import type { Claim } from './claimPayment.ts'
import type { Failure, HandlerFailure, Ordered, Outcome, Stream, Value } from '../product/product.ts'

export interface RedeemDeps {
  readonly clock: Clock
  readonly log: Log
  readonly ledger: PaymentLedger
  /** Shorter than the lease, so that an attempt has ended before another may take over. */
  readonly handlerTimeoutMs: number
}

/** `broken`: the handler threw. That is our bug, not an answer; the claim is released all the same. */
export type Attempted = Exclude<Outcome, Stream> | { readonly kind: 'broken'; readonly error: unknown }

/** Runs the handler to its deadline. Whatever it does, it comes back as an outcome: a claim must not be left hanging. */
export async function runHandler(deps: RedeemDeps, ordered: Ordered, requestId: string): Promise<Attempted> {
  const { clock, handlerTimeoutMs } = deps
  const late = new AbortController()
  const ended = new AbortController()
  const deadline = clock.sleep(handlerTimeoutMs, ended.signal).then(
    () => late.abort(),
    // The handler was faster.
    () => undefined,
  )
  try {
    const delivery = ordered.deliver({ signal: late.signal, requestId })
    const outcome = await Promise.race([delivery, deadline.then(() => tooLate(handlerTimeoutMs))])
    if (outcome.kind === 'stream') throw new Bug('streamed answers are not served yet')
    return outcome
  } catch (error) {
    if (late.signal.aborted) return tooLate(handlerTimeoutMs)
    if (error instanceof Fault)
      return {
        kind: 'failed',
        code: 'UPSTREAM_FAILED',
        message: 'the source of this answer failed; repeat with the same proof',
      }
    return { kind: 'broken', error }
  } finally {
    ended.abort()
  }
}

function tooLate(handlerTimeoutMs: number): Failure {
  return { kind: 'failed', code: 'UPSTREAM_TIMEOUT', message: `the answer was not ready within ${handlerTimeoutMs} ms` }
}

/** `data` and `meta` as they go over the wire, and the place in the ledger that says so. */
export interface Fulfilled {
  readonly answerJson: string
  readonly fulfilment: Fulfilment
}

/**
 * Records the delivery before it is sent, so that a 2xx and a RequestFulfilled are one to one (I26). Undefined when the
 * lease had ended and another attempt took over: then this answer must not be served.
 */
export async function fulfil(deps: RedeemDeps, claim: Claim, outcome: Value): Promise<Fulfilled | undefined> {
  const { order, attemptId, payment, settlement, idempotencyKey } = claim
  const answerJson = canonicalJson({ data: outcome.data, meta: outcome.meta })
  const decision = decideFulfil(payment, { attemptId, orderDigest: order.digest, answerDigest: sha256Hex(answerJson) })
  if (decision === undefined) return undefined
  const key =
    idempotencyKey === undefined
      ? {}
      : { idempotency: { wallet: order.wallet, key: idempotencyKey, orderDigest: order.digest, answerJson } }
  const appended = await deps.ledger.append({
    reference: settlement.reference,
    before: payment,
    ...decision,
    nowMs: deps.clock.nowMs(),
    ...key,
  })
  const [leaf] = appended.outcome === 'appended' ? appended.leaves : []
  if (leaf === undefined || appended.outcome !== 'appended') return undefined
  const { recordedAtMs } = appended
  return { answerJson, fulfilment: { settlement, endpoint: order.endpoint, recordedAtMs, ...leaf } }
}

/** Frees the proof (I4). If even that fails, the lease ends by itself, so the failure is only worth a line in the log. */
export async function release(deps: RedeemDeps, claim: Claim, reason: FailureReason): Promise<void> {
  const { attemptId, payment, settlement } = claim
  const decision = decideRelease(payment, attemptId, reason)
  if (decision === undefined) return
  try {
    await deps.ledger.append({
      reference: settlement.reference,
      before: payment,
      ...decision,
      nowMs: deps.clock.nowMs(),
    })
  } catch (error) {
    deps.log.warn({ event: 'release_not_recorded', reference: settlement.reference, error: describeError(error) })
  }
}

export function failureReason(code: HandlerFailure): FailureReason {
  switch (code) {
    case 'NO_DATA':
      return 'no_data'
    case 'UPSTREAM_FAILED':
      return 'upstream_failed'
    case 'UPSTREAM_TIMEOUT':
      return 'upstream_timeout'
    case 'TARGET_FORBIDDEN':
      return 'target_forbidden'
    default:
      return assertNever(code)
  }
}

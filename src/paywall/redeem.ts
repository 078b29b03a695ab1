import { assertNever } from '@tollbook/core/assert'
import { canonicalJson } from '@tollbook/core/canonicalJson'
import type { Clock } from '@tollbook/core/clock'
import { sha256Hex } from '@tollbook/core/digest'
import { describeError } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import type { FailureReason } from '../payment/events/attemptEvents.ts'
import { decideFulfil, decideRelease } from '../payment/attempt.ts'
import type { PaymentDecision } from '../payment/payment.ts'
import type { PaymentLedger } from '../payment/paymentLedger.ts'
import type { Fulfilment } from '../payment/receipt.ts'
import { type Refusal, refuse } from '@tollbook/core/refusal'
import type { Failure, HandlerFailure, Value } from '../product/product.ts'
import { type Claim, idempotencyOf, refuseOvertaken } from './claimPayment.ts'
import type { AttemptOutcome } from './runHandler.ts'

export interface RedeemDeps {
  readonly clock: Clock
  readonly log: Log
  readonly ledger: PaymentLedger
  readonly attemptsMax: number
}

/** A delivery, as the ledger records it. */
export interface Delivery {
  /** SHA-256 in hex of the bytes that the caller gets. */
  readonly answerDigest: string
  /** Text from which a replay is made; undefined when the answer is too large to store. */
  readonly storedAnswer: string | undefined
}

/** Canonical JSON of `data` and `meta`, as they go over the wire. */
export function answerJsonOf({ data, meta }: Value): string {
  return canonicalJson({ data, meta })
}

/** A delivery whose whole answer is stored for the payer's retry. */
export function deliveryOf(answerJson: string): Delivery {
  return { answerDigest: sha256Hex(answerJson), storedAnswer: answerJson }
}

/**
 * Records the delivery. A whole answer is recorded before it is sent, so that a 2xx and a RequestFulfilled are one to one
 * (I26). Refuses when the lease had ended and another attempt took over: then this answer must not be served.
 */
export async function fulfil(deps: RedeemDeps, claim: Claim, delivery: Delivery): Promise<Fulfilment | Refusal> {
  const { order, attemptId, payment, settlement } = claim
  const { answerDigest, storedAnswer: answerJson } = delivery
  const decision = decideFulfil(payment, { attemptId, orderDigest: order.digest, answerDigest })
  if (decision === undefined) return refuseOvertaken()
  const appended = await deps.ledger.append({
    reference: settlement.reference,
    before: payment,
    ...decision,
    nowMs: deps.clock.nowMs(),
    ...idempotencyOf(claim),
    ...(answerJson === undefined || isTooLong(claim, answerJson) ? {} : { answerJson }),
  })
  const [leaf] = appended.outcome === 'appended' ? appended.leaves : []
  if (leaf === undefined || appended.outcome !== 'appended') return refuseOvertaken()
  return { settlement, endpoint: order.endpoint, recordedAtMs: appended.recordedAtMs, ...leaf }
}

// Answers of data have some kilobytes, and a large QR code 200; documents and images are artifacts with a URL.
const unsentBytesMax = 1024 * 1024

/** Under a key every answer is stored. Without one it is stored until it was sent, and a payer cannot fill the database. */
function isTooLong({ idempotencyKey }: Claim, answerJson: string): boolean {
  return idempotencyKey === undefined && Buffer.byteLength(answerJson) > unsentBytesMax
}

/** Frees the proof after a failed attempt (I4), or ends the payment after its last one. The caller gets the reason. */
export async function release(
  deps: RedeemDeps,
  claim: Claim,
  outcome: Failure | Extract<AttemptOutcome, { readonly kind: 'broken' }>,
): Promise<Refusal> {
  const reason = outcome.kind === 'failed' ? failureReason(outcome.code) : 'internal_error'
  const { payment, attemptId } = claim
  const attemptsMax = outcome.kind === 'failed' && outcome.endsPayment === true ? 1 : deps.attemptsMax
  const decision = decideRelease(payment, { attemptId, reason, attemptsMax })
  await recordRelease(deps, claim, decision)
  if (outcome.kind === 'broken') throw outcome.error
  const isLast = decision?.step === 'payment.exhaust'
  return refuse(outcome.code, isLast ? `${outcome.message}; ${lastAttempt}` : outcome.message)
}

const lastAttempt =
  'this was the last permitted attempt with this payment: it no longer buys and is owed back to the wallet'

/** If even the release fails, the lease ends by itself, so the failure is only worth a line in the log. */
export async function recordRelease(
  { ledger, clock, log }: RedeemDeps,
  { payment, settlement }: Claim,
  decision: PaymentDecision | undefined,
): Promise<void> {
  if (decision === undefined) return
  const { reference } = settlement
  try {
    const { outcome } = await ledger.append({ reference, before: payment, ...decision, nowMs: clock.nowMs() })
    if (outcome === 'appended' && decision.step === 'payment.exhaust')
      log.warn({ event: 'attempts_exhausted', reference })
  } catch (error) {
    log.warn({ event: 'release_not_recorded', reference, error: describeError(error) })
  }
}

function failureReason(code: HandlerFailure): FailureReason {
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

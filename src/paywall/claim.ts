import { assertNever } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { describeError, Fault } from '@tollbook/core/fault'
import { newId } from '@tollbook/core/id'
import { isRefusal, type Refusal, refuse } from '@tollbook/core/refusal'
import type { Log } from '../machine/log.ts'
import { decideClaim, decideFulfil, decideRelease } from '../payment/attempt.ts'
import type { FailureReason } from '../payment/events/attemptEvents.ts'
import type { Order, PaymentDecision, PaymentState } from '../payment/payment.ts'
import type { PaymentChange, PaymentLedger } from '../payment/paymentLedger.ts'
import type { Fulfilment } from '../payment/receipt.ts'
import type { Settlement } from '../payment/settlement.ts'
import type { Failure, HandlerFailure } from '../product/product.ts'
import { chargeWithin, explainShortage, type Metering, type MeteringDeps, meteringOf } from './chargeByUse.ts'
import type { ClaimedPayment } from './paidRequest.ts'
import type { WholeAnswer } from './rawFormat.ts'
import type { AttemptOutcome } from './runHandler.ts'

export interface ClaimDeps extends MeteringDeps {
  readonly clock: Clock
  readonly log: Log
  readonly ledger: PaymentLedger
  readonly leaseMs: number
  /** Maximum number of attempts with one payment, or with one debit number. */
  readonly attemptsMax: number
}

export interface Claim {
  readonly order: Order
  readonly settlement: Settlement
  readonly attemptId: string
  /** State on which fulfilment and release are decided. Their appends conflict if another attempt has changed it. */
  readonly payment: PaymentState
  /** Undefined unless a debit pays a price by use. */
  readonly metering: Metering | undefined
  readonly idempotency?: PaymentChange['idempotency']
}

export interface ClaimQuestion {
  readonly order: Order
  readonly settlement: Settlement
  readonly payment: PaymentState
  readonly idempotencyKey: string | undefined
}

// One lookup after a conflict is nearly always enough, because it shows the result of the other attempt.
const triesMax = 4

/**
 * Commits the claim before the handler runs (I2). Only the database decides which attempt is first (I1), so the claim
 * is decided again on the new state after a conflict.
 */
export async function claimPayment(
  deps: Omit<ClaimDeps, 'log'>,
  { order, settlement, payment, idempotencyKey: key }: ClaimQuestion,
): Promise<Claim | Refusal> {
  const { leaseMs, attemptsMax } = deps
  const { wallet, digest: orderDigest } = order
  const { reference } = settlement
  const attemptId = newId('attempt')
  const keyed = key === undefined ? {} : { idempotency: { wallet, key, orderDigest } }
  const metering = await meteringOf(deps, settlement)
  let before = payment
  for (let tries = 1; tries <= triesMax; tries++) {
    const nowMs = deps.clock.nowMs()
    const decision = decideClaim(before, { order, settlement, attemptId, leaseMs, attemptsMax, nowMs })
    if (isRefusal(decision)) return decision
    const appended = await deps.ledger.append({ reference, before, ...decision, nowMs, ...keyed })
    switch (appended.outcome) {
      case 'appended':
        return { order, settlement, attemptId, payment: appended.after, metering, ...keyed }
      case 'idempotency_key_reused':
        return refuseReusedKey()
      case 'refused':
        return explainShortage(metering, { order, settlement }, appended.refusal)
      case 'conflict': {
        const now = await deps.ledger.lookUp({ reference, wallet, orderDigest, idempotencyKey: key })
        // Another attempt has claimed or delivered this order meanwhile. A retry gets its answer, but a new decision
        // could refuse the payment as already used.
        if (now.earlier !== undefined || now.stored !== undefined) return refuseOvertaken()
        before = now.payment
        break
      }
      default:
        return assertNever(appended)
    }
  }
  throw new Fault('the payment kept changing while it was being claimed', { retryable: true })
}

export function claimedPayment({ order, settlement, payment }: Omit<ClaimQuestion, 'idempotencyKey'>): ClaimedPayment {
  const isFirst = 'attempt' in payment && payment.attempt === 1
  const { price, quoteId, debit } = settlement
  // A debit only holds its price, and a failed request or a smaller use returns it.
  const priceMicroUsd = debit === undefined ? price.priceMicroUsd : 0n
  return { payer: order.wallet, priceMicroUsd, isFirst, isQuoted: quoteId !== undefined }
}

export function refuseOvertaken(): Refusal {
  return refuse('PAYMENT_IN_PROGRESS', 'another request with this proof was faster; repeat with the same proof', 1)
}

export function refuseReusedKey(): Refusal {
  return refuse(
    'IDEMPOTENCY_KEY_REUSED',
    'Idempotency-Key was used by this wallet for another request or payment in the last 24 hours; send a new key',
  )
}

export interface Delivery extends Pick<WholeAnswer, 'answerDigest' | 'usage' | 'deposit'> {
  /** Undefined if a stream is too long to store. */
  readonly answerJson: string | undefined
}

/**
 * Records the delivery. A complete answer is sent only afterwards, so that its delivery is in the ledger (I26). After a
 * refusal, it must not be sent.
 */
export async function fulfil(
  deps: ClaimDeps,
  claim: Claim,
  { answerDigest, answerJson, usage, deposit }: Delivery,
): Promise<Fulfilment | Refusal> {
  const { ledger, clock } = deps
  const { order, attemptId, payment: before, settlement: held, metering, idempotency } = claim
  const { reference } = held
  const charged =
    usage === undefined || metering === undefined ? {} : { charged: chargeWithin(held.price, metering, usage), usage }
  const delivery = { attemptId, orderDigest: order.digest, answerDigest, ...charged }
  const decision = decideFulfil(before, deposit === undefined ? delivery : { ...delivery, deposit })
  if (decision === undefined) return refuseOvertaken()
  const appended = await ledger.append({
    reference,
    before,
    ...decision,
    nowMs: clock.nowMs(),
    ...(idempotency === undefined ? {} : { idempotency }),
    ...(answerJson === undefined ? {} : { answerJson }),
    ...(deposit === undefined ? {} : { limits: deposit.limits }),
  })
  // A second attempt would meet the same limit. End the payment now, so that it is owed back.
  if (appended.outcome === 'refused')
    return release(deps, claim, { ...appended.refusal, kind: 'failed', code: 'NO_DATA', endsPayment: true })
  const [leaf] = appended.outcome === 'appended' ? appended.leaves : []
  if (leaf === undefined || appended.outcome !== 'appended') return refuseOvertaken()
  const { after, recordedAtMs, tabBalanceBaseUnits } = appended
  // Use the settlement after the delivery, because a debit may be charged less than it held.
  const settlement = 'settlement' in after ? after.settlement : held
  const balance = tabBalanceBaseUnits === undefined ? {} : { tabBalanceBaseUnits }
  return { settlement, endpoint: order.endpoint, attemptId, recordedAtMs, ...leaf, ...balance }
}

/** A failed attempt leaves the proof usable (I4), unless it was the last. Throws the error of a broken handler. */
export async function release(
  deps: ClaimDeps,
  claim: Claim,
  outcome: Failure | Extract<AttemptOutcome, { readonly kind: 'broken' }>,
): Promise<Refusal> {
  const reason = outcome.kind === 'failed' ? failureReasons[outcome.code] : 'internal_error'
  const { payment, attemptId } = claim
  const attemptsMax = outcome.kind === 'failed' && outcome.endsPayment === true ? 1 : deps.attemptsMax
  const decision = decideRelease(payment, { attemptId, reason, attemptsMax })
  await recordRelease(deps, claim, decision)
  if (outcome.kind === 'broken') throw outcome.error
  if (decision?.step !== 'payment.exhaust') return refuse(outcome.code, outcome.message)
  // The reason tells a program what the message tells a person. Without it, the program would repeat the proof.
  return { ...refuse(outcome.code, `${outcome.message}; ${lastAttempt}`), reason: 'attempts_exhausted' }
}

const failureReasons: Readonly<Record<HandlerFailure, FailureReason>> = {
  NO_DATA: 'no_data',
  UPSTREAM_FAILED: 'upstream_failed',
  UPSTREAM_TIMEOUT: 'upstream_timeout',
  TARGET_FORBIDDEN: 'target_forbidden',
}

const lastAttempt =
  'this was the last permitted attempt with this payment: it no longer buys and is owed back to the wallet'

/** Only logs a failed append, because the lease then ends by itself. */
export async function recordRelease(
  { ledger, clock, log }: ClaimDeps,
  { payment, settlement: { reference } }: Claim,
  decision: PaymentDecision | undefined,
): Promise<void> {
  if (decision === undefined) return
  try {
    const { outcome } = await ledger.append({ reference, before: payment, ...decision, nowMs: clock.nowMs() })
    if (outcome === 'appended' && decision.step === 'payment.exhaust')
      log.warn({ event: 'attempts_exhausted', reference })
  } catch (error) {
    log.warn({ event: 'release_not_recorded', reference, error: describeError(error) })
  }
}

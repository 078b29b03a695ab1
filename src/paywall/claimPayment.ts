import { assertNever } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { newId } from '@tollbook/core/id'
import { decideClaim } from '../payment/attempt.ts'
import type { Order, PaymentState } from '../payment/payment.ts'
import type { PaymentChange, PaymentLedger } from '../payment/paymentLedger.ts'
import { isRefusal, type Refusal, refuse } from '@tollbook/core/refusal'
import type { Settlement } from '../payment/settlement.ts'
import type { ClaimedPayment } from './paidRequest.ts'

export interface ClaimDeps {
  readonly clock: Clock
  readonly ledger: PaymentLedger
  readonly leaseMs: number
  /** Attempts to serve one payment; then it is owed back. */
  readonly attemptsMax: number
}

/** The exclusive right to serve one order for one payment, committed to the ledger. */
export interface Claim {
  readonly order: Order
  readonly settlement: Settlement
  readonly attemptId: string
  /** The state after the claim, on which fulfilment and release are decided. */
  readonly payment: PaymentState
  readonly idempotencyKey: string | undefined
}

/** A verified payment and the order that it should buy. */
export interface ClaimQuestion {
  readonly order: Order
  readonly settlement: Settlement
  /** The newest state that the caller knows. */
  readonly payment: PaymentState
  readonly idempotencyKey: string | undefined
}

// Each conflict means that another attempt won, and the next lookup shows its result; one lookup is nearly always enough.
const triesMax = 4

/**
 * Consumes the settlement. Committed before the handler runs (I2); the database alone decides who is first (I1). An
 * attempt that lost reads the payment again and is refused by its state: in progress, or already used.
 */
export async function claimPayment(deps: ClaimDeps, question: ClaimQuestion): Promise<Claim | Refusal> {
  const { order, settlement, idempotencyKey } = question
  const { leaseMs, attemptsMax } = deps
  const attemptId = newId('attempt')
  const sought = { reference: settlement.reference, wallet: order.wallet, orderDigest: order.digest }
  let before = question.payment
  for (let tries = 1; tries <= triesMax; tries++) {
    const nowMs = deps.clock.nowMs()
    const decision = decideClaim(before, { order, settlement, attemptId, leaseMs, attemptsMax, nowMs })
    if (isRefusal(decision)) return decision
    const appended = await deps.ledger.append({
      reference: settlement.reference,
      before,
      ...decision,
      nowMs,
      ...idempotencyOf(question),
    })
    switch (appended.outcome) {
      case 'appended':
        return { order, settlement, attemptId, payment: appended.after, idempotencyKey }
      case 'idempotency_key_reused':
        return refuseReusedKey()
      case 'conflict': {
        const now = await deps.ledger.lookUp({ ...sought, idempotencyKey })
        // The winner of the same order stores its answer, and the next request gets it. Another decision here would only
        // find the payment used.
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

/** Terms on which the claim earns its caller work. */
export function claimedPayment({ order, settlement, payment }: Claim): ClaimedPayment {
  const isFirst = 'attempt' in payment && payment.attempt === 1
  return { payer: order.wallet, priceMicroUsd: settlement.price.priceMicroUsd, isFirst }
}

/** The key is recorded with the claim and again with the delivery. */
export function idempotencyOf({
  order,
  idempotencyKey: key,
}: Pick<Claim, 'order' | 'idempotencyKey'>): Pick<PaymentChange, 'idempotency'> {
  return key === undefined ? {} : { idempotency: { wallet: order.wallet, key, orderDigest: order.digest } }
}

/** 409: the append lost the race to another request with the same proof. */
export function refuseOvertaken(): Refusal {
  return refuse('PAYMENT_IN_PROGRESS', 'another request with this proof was faster; repeat with the same proof', 1)
}

/** 422: the key is stored for 24 hours, for a different order or a different payment. */
export function refuseReusedKey(): Refusal {
  return refuse(
    'IDEMPOTENCY_KEY_REUSED',
    'Idempotency-Key was used by this wallet for another request or payment in the last 24 hours; send a new key',
  )
}

import type { Order, PaymentState } from '../payment/payment.ts'
import type { KnownPayment } from '../payment/paymentLedger.ts'
import { isRefusal, type Refusal, refuseField } from '@tollbook/core/refusal'
import { isBound, type Settlement } from '../payment/settlement.ts'
import { refuseReusedKey } from './claim.ts'
import type { PaidRequest } from './paidRequest.ts'
import type { PaymentRail, Proof } from './rail.ts'
import type { Sale } from './sendReceipt.ts'

const keyField = 'idempotency-key'
const keyCharacters = /^[\x21-\x7e]{1,255}$/

/** IETF draft-ietf-httpapi-idempotency-key-header, or the rail's own form of it. Undefined when the caller sent none. */
export function readIdempotencyKey(request: PaidRequest, rail: PaymentRail | undefined): string | undefined | Refusal {
  const key = request.header(keyField)
  if (key === undefined) return rail?.idempotencyKey?.(request)
  if (keyCharacters.test(key)) return key
  return refuseField(keyField, `must be 1 to 255 visible ASCII characters, for example a UUID (got ${key.length})`)
}

/** An order with the proof that was presented for it, before the proof is verified. */
export interface PresentedOrder {
  readonly rail: PaymentRail
  readonly proof: Proof
  readonly order: Order
}

/**
 * The stored answer, for a payer who repeats the request with its proof: under the same Idempotency-Key for a day, and
 * without one until the answer was sent. For a short time after that a bound payment gets it again: everyone can read
 * the proof of any other payment on chain. Undefined when nothing is stored. No key opens anything by itself: the
 * caller must hold the proof.
 */
export function findReplay(known: KnownPayment, presented: PresentedOrder): Sale | Refusal | undefined {
  const { earlier, stored, payment, reference } = known
  const { order } = presented
  if (earlier === undefined && stored === undefined) return undefined
  const isReused = earlier !== undefined && (earlier.orderDigest !== order.digest || earlier.reference !== reference)
  if (isReused) return refuseReusedKey()
  const settlement = settlementInLedger(payment, presented)
  if (isRefusal(settlement)) return settlement
  // The order's digest does not name its wallet, and the payment reference is public.
  if (settlement?.wallet !== order.wallet) return undefined
  const isOpen = stored !== undefined && (!stored.isSent || isBound(settlement))
  const answer = earlier?.answer ?? (isOpen ? stored : undefined)
  if (answer === undefined) return undefined
  const { answerJson, position, leafHash, recordedAtMs } = answer
  return {
    answerJson,
    replayed: true,
    fulfilment: { settlement, endpoint: order.endpoint, position, leafHash, recordedAtMs },
  }
}

/** A payment that the ledger has verified is not verified again, but the caller must hold its proof. */
export function settlementInLedger(
  payment: PaymentState,
  { rail, proof }: Pick<PresentedOrder, 'rail' | 'proof'>,
): Settlement | Refusal | undefined {
  if (payment.phase === 'unknown' || payment.phase === 'submitted' || payment.phase === 'unmatched') return undefined
  return rail.checkHolder(proof, payment.settlement) ?? payment.settlement
}

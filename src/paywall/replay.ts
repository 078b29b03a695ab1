import type { Order, PaymentState } from '../payment/payment.ts'
import type { KnownPayment } from '../payment/paymentLedger.ts'
import type { FoundPayment } from './lookUpPayment.ts'
import { isRefusal, type Refusal, refuseField } from '@tollbook/core/refusal'
import { isBound, type Settlement } from '../payment/settlement.ts'
import { isDebit } from '../payment/tabSettlement.ts'
import { refuseReusedKey } from './claim.ts'
import type { PaidRequest } from './paidRequest.ts'
import type { PaymentRail, Proof, Settled } from './rail.ts'
import type { Sale } from './sendReceipt.ts'

const keyField = 'idempotency-key'
const keyCharacters = /^[\x21-\x7e]{1,255}$/

/** The header of IETF draft-ietf-httpapi-idempotency-key-header has priority over the rail's own form. */
export function readIdempotencyKey(request: PaidRequest, rail: PaymentRail | undefined): string | undefined | Refusal {
  const key = request.header(keyField)
  if (key === undefined) return rail?.idempotencyKey?.(request)
  if (keyCharacters.test(key)) return key
  return refuseField(keyField, `must be 1 to 255 visible ASCII characters, for example a UUID (got ${key.length})`)
}

export interface PresentedOrder {
  readonly rail: PaymentRail
  readonly proof: Proof
  readonly order: Order
}

/**
 * Returns the stored answer of the presented payment. An Idempotency-Key alone gives no access. Without a key, an
 * answer that was sent is repeated only for bound payments, because an unbound proof is public.
 */
export function findReplay(known: KnownPayment, presented: PresentedOrder): Sale | Refusal | undefined {
  const { earlier, stored, payment, reference } = known
  const { order } = presented
  if (earlier === undefined && stored === undefined) return undefined
  const isReused = earlier !== undefined && (earlier.orderDigest !== order.digest || earlier.reference !== reference)
  if (isReused) return refuseReusedKey()
  const settlement = settlementInLedger(payment, presented)
  if (isRefusal(settlement)) return settlement
  // Compare the wallet, because the order's digest does not contain it and the payment reference is public.
  if (settlement?.wallet !== order.wallet) return undefined
  // The answer was stored after the payment was read. Only the state after the delivery has the amount that was
  // charged.
  if (payment.phase !== 'fulfilled' && payment.phase !== 'reversed') return undefined
  const isOpen = stored !== undefined && (!stored.isSent || isBound(settlement))
  const answer = earlier?.answer ?? (isOpen ? stored : undefined)
  if (answer === undefined) return undefined
  const { answerJson, ...delivery } = answer
  const fulfilment = { ...delivery, settlement, endpoint: order.endpoint }
  return { answerJson, fulfilment, replayed: true }
}

/** Undefined if the ledger has no settlement of the payment. A refusal if this caller may not use the payment. */
function settlementInLedger(
  payment: PaymentState,
  { rail, proof }: Pick<PresentedOrder, 'rail' | 'proof'>,
): Settlement | Refusal | undefined {
  if (payment.phase === 'unknown' || payment.phase === 'submitted' || payment.phase === 'unmatched') return undefined
  return rail.checkHolder(proof, payment.settlement) ?? payment.settlement
}

/** Undefined for a released debit: a further attempt is held at the price and within the limits of that moment. */
export function settledBefore({ known, proof, settlement }: FoundPayment, rail: PaymentRail): Settled | undefined {
  const { payment } = known
  if (payment.phase === 'released' && isDebit(payment.settlement)) return undefined
  const verdict = settlement ?? settlementInLedger(payment, { rail, proof })
  return verdict === undefined ? undefined : { verdict, payment }
}

/** Limits the proofs that the ledger does not know. A released debit is settled again, but is on record. */
export function limitUnknown(
  { known }: Pick<FoundPayment, 'known'>,
  request: Pick<PaidRequest, 'limitLookups'>,
): Refusal | undefined {
  return known.payment.phase === 'released' ? undefined : request.limitLookups()
}

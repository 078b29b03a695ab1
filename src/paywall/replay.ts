import type { Order, PaymentState } from '../payment/payment.ts'
import type { Known } from '../payment/paymentLedger.ts'
import { isRefusal, type Refusal, refuseField } from '@tollbook/core/refusal'
import type { Settlement } from '../payment/settlement.ts'
import { refuseReusedKey } from './claimPayment.ts'
import type { PaidRequest } from './paidRequest.ts'
import type { PaymentRail, Proof } from './rail.ts'
import type { Sale } from './sendReceipt.ts'

const keyField = 'idempotency-key'
const keyCharacters = /^[\x21-\x7e]{1,255}$/

/** IETF draft-ietf-httpapi-idempotency-key-header. Undefined when the caller sent none. */
export function readIdempotencyKey(request: PaidRequest): string | undefined | Refusal {
  const key = request.header(keyField)
  if (key === undefined || keyCharacters.test(key)) return key
  return refuseField(keyField, `must be 1 to 255 visible ASCII characters, for example a UUID (got ${key.length})`)
}

export interface Held {
  readonly rail: PaymentRail
  readonly proof: Proof
  readonly order: Order
}

/**
 * The stored answer, for a caller who lost it: same key, wallet, request and proof. Undefined when nothing is stored. The
 * key alone opens nothing: the caller must still hold the proof.
 */
export function findReplay(known: Known, held: Held): Sale | Refusal | undefined {
  const { earlier, payment } = known
  const { proof, order } = held
  if (earlier === undefined) return undefined
  if (earlier.orderDigest !== order.digest || earlier.reference !== proof.reference) return refuseReusedKey()
  const settlement = settlementInLedger(payment, held)
  if (isRefusal(settlement)) return settlement
  if (earlier.answer === undefined || settlement === undefined) return undefined
  const { answerJson, position, leafHash, recordedAtMs } = earlier.answer
  return {
    answerJson,
    replayed: true,
    fulfilment: { settlement, endpoint: order.endpoint, position, leafHash, recordedAtMs },
  }
}

/** A payment that the ledger has verified is not verified again, but the caller must hold its proof. */
export function settlementInLedger(
  payment: PaymentState,
  { rail, proof }: Pick<Held, 'rail' | 'proof'>,
): Settlement | Refusal | undefined {
  if (payment.phase === 'unknown' || payment.phase === 'submitted' || payment.phase === 'unmatched') return undefined
  return rail.checkHolder(proof, payment.settlement) ?? payment.settlement
}

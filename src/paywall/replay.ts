import { bindSecret } from '@tollbook/core/binding'
import type { Order, PaymentState } from '../payment/payment.ts'
import type { Known } from '../payment/paymentLedger.ts'
import type { Proof } from '../payment/proof.ts'
import { isRefusal, type Refusal, refuseField } from '@tollbook/core/refusal'
import type { Settlement } from '../payment/settlement.ts'
import { refuseReusedKey } from './claimPayment.ts'
import type { PaidRequest } from './product.ts'
import type { Sale } from './sendReceipt.ts'

const keyField = 'idempotency-key'
const keyCharacters = /^[\x21-\x7e]{1,255}$/

/** IETF draft-ietf-httpapi-idempotency-key-header. Undefined when the caller sent none. */
export function readIdempotencyKey(request: PaidRequest): string | undefined | Refusal {
  const key = request.header(keyField)
  if (key === undefined || keyCharacters.test(key)) return key
  return refuseField(keyField, 'must be 1 to 255 visible ASCII characters, for example a UUID')
}

/**
 * The stored answer for a caller who lost it: same key, wallet, request and proof. Undefined when there is nothing to
 * replay. The key alone opens nothing, and a bound payment still needs its secret.
 */
export function findReplay(known: Known, proof: Proof, order: Order): Sale | Refusal | undefined {
  const { earlier, payment } = known
  if (earlier === undefined) return undefined
  if (earlier.orderDigest !== order.digest || earlier.signature !== proof.signature) return refuseReusedKey()
  const settlement = settlementInBook(payment, proof)
  if (isRefusal(settlement)) return settlement
  if (earlier.answer === undefined || settlement === undefined) return undefined
  const { answerJson, position, leafHash, recordedAtMs } = earlier.answer
  return {
    answerJson,
    replayed: true,
    fulfilment: { settlement, endpoint: order.endpoint, position, leafHash, recordedAtMs },
  }
}

/** What the book already knows to be paid needs no chain, but whoever presents it must still hold its secret. */
export function settlementInBook(payment: PaymentState, proof: Proof): Settlement | Refusal | undefined {
  if (payment.phase === 'unknown' || payment.phase === 'submitted' || payment.phase === 'unmatched') return undefined
  const { settlement } = payment
  const binding = bindSecret(settlement.memo === undefined ? [] : [settlement.memo], proof.secret)
  return isRefusal(binding) ? binding : settlement
}

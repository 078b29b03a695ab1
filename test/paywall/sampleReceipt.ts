import { receiptOf, type SignedReceipt } from '../../src/payment/receipt.ts'
import { referenceNumber, settlementOf } from '../payment/paymentStory.ts'

/** A receipt whose signature is not checked. */
export function sampleReceipt(): SignedReceipt {
  const settlement = settlementOf(referenceNumber(1))
  const { endpoint } = settlement.price
  return {
    ...receiptOf({
      settlement,
      endpoint,
      attemptId: 'attempt_1',
      position: 7,
      leafHash: 'ab'.repeat(32),
      recordedAtMs: 0,
    }),
    jws: 'a.b.c',
  }
}

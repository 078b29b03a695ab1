import { assert } from '@tollbook/core/assert'
import type { RefundDue } from './events/finalityEvents.ts'
import type { Verified } from './payment.ts'
import { heldForCallerBaseUnits } from './settlement.ts'

export type OwedPayment = Pick<Verified, 'settlement' | 'isFinal'>

export function refundEvent(payment: OwedPayment): RefundDue {
  assert(payment.isFinal, 'only a final payment is owed back')
  const { wallet, price } = payment.settlement
  const refundBaseUnits = heldForCallerBaseUnits(payment.settlement)
  assert(refundBaseUnits >= 0n, 'a refund is not a debt of the wallet')
  return { kind: 'RefundDue', wallet, mint: price.mint, refundBaseUnits }
}

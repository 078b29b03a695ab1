import { assert } from '@tollbook/core/assert'
import { transferBaseUnits } from '@tollbook/core/quote'
import type { RefundDue } from './events/finalityEvents.ts'
import type { Settlement } from './settlement.ts'

/** A payment that bought nothing. */
export interface OwedSettlement {
  readonly settlement: Settlement
  readonly isFinal: boolean
}

/** The amount that is held for the caller is owed back to the wallet. The chain can no longer drop the payment. */
export function refundEvent({ settlement, isFinal }: OwedSettlement): RefundDue {
  assert(isFinal, 'only a final payment is owed back')
  const { wallet, price } = settlement
  const refundBaseUnits = transferBaseUnits(price)
  assert(refundBaseUnits >= 0n, 'a refund is not a debt of the wallet')
  return { kind: 'RefundDue', wallet, mint: price.mint, refundBaseUnits }
}

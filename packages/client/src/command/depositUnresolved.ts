import type { PaymentError } from '../paymentError.ts'

/** The folder has the deposit. The record of its tab is completed by `tab open` only, so no other hint is given. */
export class DepositUnresolved extends Error {
  override readonly name = 'DepositUnresolved'

  constructor(cause: PaymentError) {
    super('the outcome of the deposit is not known; run the same command again, which pays no second one', { cause })
  }
}

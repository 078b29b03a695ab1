import type { Account } from './account.ts'

/** Contains both sides, so it is always balanced (I17). The amount is positive: the accounts determine the direction. */
export interface Posting {
  readonly debit: Account
  readonly credit: Account
  readonly mint: string
  readonly amountBaseUnits: bigint
}

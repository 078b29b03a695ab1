import type { Account } from './account.ts'

/**
 * One movement between two accounts. It names both sides once, so it cannot be out of balance (I17). The amount is
 * positive; the direction is in the accounts.
 */
export interface Posting {
  readonly debit: Account
  readonly credit: Account
  readonly mint: string
  readonly amountBaseUnits: bigint
}

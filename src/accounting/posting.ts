import { assert } from '@tollbook/core/assert'
import type { Account } from './account.ts'

/** One movement between two accounts. It names both sides once, so it cannot be out of balance (I17). */
export interface Posting {
  readonly debit: Account
  readonly credit: Account
  readonly mint: string
  readonly amountBaseUnits: bigint
}

/** One side of a posting as the ledger stores it: debits are positive, credits negative. */
export interface Entry {
  readonly account: Account
  readonly mint: string
  readonly amountBaseUnits: bigint
}

export function entriesOf(postings: readonly Posting[]): readonly Entry[] {
  return postings.flatMap(({ debit, credit, mint, amountBaseUnits }): Entry[] => {
    assert(amountBaseUnits > 0n, 'a posting moves a positive amount; the direction is in its accounts')
    assert(debit !== credit, 'a posting moves money between two accounts')
    return [
      { account: debit, mint, amountBaseUnits },
      { account: credit, mint, amountBaseUnits: -amountBaseUnits },
    ]
  })
}

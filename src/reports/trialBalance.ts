import { type Database, readOrFault } from '../store/database.ts'

/** One account's balance; debits are positive, credits negative. */
export interface AccountBalance {
  readonly account: string
  readonly mint: string
  readonly baseUnits: bigint
}

/** Every account's balance. Over each mint they sum to zero. */
export async function trialBalance(database: Database): Promise<readonly AccountBalance[]> {
  const rows = await readOrFault('the trial balance', () =>
    database
      .selectFrom('ledger.balances')
      .select(['account', 'mint', 'balance'])
      .orderBy('mint')
      .orderBy('account')
      .execute(),
  )
  return rows.map(({ account, mint, balance }) => ({ account, mint, baseUnits: BigInt(balance) }))
}

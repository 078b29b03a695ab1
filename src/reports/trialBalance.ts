import { type Database, readRows } from '../store/database.ts'

/** Debits are positive, credits negative. */
export interface AccountBalance {
  readonly account: string
  readonly mint: string
  readonly baseUnits: bigint
}

/**
 * Reads the balances of all accounts, except Memo accounts, which do not contain money. The balances of each mint sum
 * to zero.
 */
export async function trialBalance(database: Database): Promise<readonly AccountBalance[]> {
  const rows = await readRows(database, 'the trial balance')<{ account: string; mint: string; balance: string }>`
    select name as account, mint, balance from ledger.accounts where name not like 'Memo:%' order by mint, name`
  return rows.map(({ account, mint, balance }) => ({ account, mint, baseUnits: BigInt(balance) }))
}

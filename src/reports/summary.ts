import { sql } from 'kysely'
import type { Json } from '@tollbook/core/canonicalJson'
import { accounts } from '../accounting/account.ts'
import { type Database, readOrFault } from '../store/database.ts'
import type { BookedToken } from './bookedToken.ts'

interface KindRow {
  readonly account: string
  readonly balance: string
  readonly entries: number
}

/** The state of the book in a few figures, from one row for each endpoint and kind of account. */
export async function summary(database: Database, { mint, decimals }: BookedToken): Promise<Record<string, Json>> {
  const kinds = await readOrFault('the summary', async () => {
    const { rows } = await sql<KindRow>`
      select account, sum(debits - credits)::text as balance, sum(debit_entries - credit_entries)::bigint as entries
      from reports.daily_totals
      where mint = ${mint} and day = '-infinity'
      group by account
      order by account`.execute(database)
    return rows
  })
  const balanceOf = (account: string) => kinds.find((kind) => kind.account === account)?.balance ?? '0'
  const owed = kinds
    .filter(({ account }) => account.startsWith('Liabilities:'))
    .map(({ account, balance }) => ({ account, owedBaseUnits: (-BigInt(balance)).toString() }))
  return {
    mint,
    decimals,
    // Each payment burns once, and takes that back when it is reversed.
    payments: kinds.find(({ account }) => account === accounts.burned)?.entries ?? 0,
    burnedBaseUnits: balanceOf(accounts.burned),
    paymentWalletBaseUnits: balanceOf(accounts.paymentWallet),
    lostBaseUnits: balanceOf(accounts.reversedPayments),
    liabilities: owed,
    owedBaseUnits: owed.reduce((sum, line) => sum + BigInt(line.owedBaseUnits), 0n).toString(),
    refundsDueBaseUnits: owed
      .filter(({ account }) => !ordinary.has(account))
      .reduce((sum, line) => sum + BigInt(line.owedBaseUnits), 0n)
      .toString(),
  }
}

/** Owed in the course of business; every other liability is somebody's own money that should go back. */
const ordinary: ReadonlySet<string> = new Set([
  accounts.unearned,
  accounts.provider,
  accounts.holders,
  accounts.treasury,
])

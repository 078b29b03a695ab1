import { isoTime } from '@tollbook/core/clock'
import { accounts, shareName } from '../accounting/account.ts'
import { type Database, readRows } from '../store/database.ts'
import { readBurnDebt } from './burnDebt.ts'
import { readLedgerMints } from '../store/ledgerMints.ts'
import type { LedgerToken } from './ledgerToken.ts'

export type Summary = Awaited<ReturnType<typeof summary>>

/**
 * Returns the sums of the ledger. Reads one row per endpoint and kind of account, so the cost is independent of the
 * number of payments.
 */
export async function summary(database: Database, { mint, decimals }: LedgerToken) {
  const lines = await readRows(database, 'the summary')<{
    account: string
    balance: string
    payments: number
    burned_later: string
  }>`
    select account, sum(debits - credits)::text as balance, sum(payments)::bigint as payments,
      coalesce(sum(debits - credits) filter (where kind = 'burn' and account = 'Expenses:Burned'), 0)::text as burned_later
    from reports.daily_totals
    where mint = ${mint} and day = '-infinity'
    group by account
    order by account`
  const mints = await readLedgerMints(database)
  const { oldestOwedAtMs } = await readBurnDebt(database, mint)
  const balanceOf = (account: string) => lines.find((line) => line.account === account)?.balance ?? '0'
  const owed = lines
    .filter(({ account }) => account.startsWith('Liabilities:'))
    .map(({ account, balance }) => ({ account, owedBaseUnits: (-BigInt(balance)).toString() }))
  return {
    mint,
    decimals,
    mints: mints.map((each) => ({ ...each })),
    payments: lines.reduce((sum, { payments }) => sum + payments, 0),
    burnedBaseUnits: balanceOf('Expenses:Burned'),
    // Part of `burnedBaseUnits`: burned by the service.
    burnConfirmedBaseUnits: lines.reduce((sum, line) => sum + BigInt(line.burned_later), 0n).toString(),
    burnOwedBaseUnits: (-BigInt(balanceOf(accounts.burnOwed))).toString(),
    burnOwedSince: oldestOwedAtMs === undefined ? null : isoTime(oldestOwedAtMs),
    paymentWalletBaseUnits: balanceOf(accounts.paymentWallet),
    lostBaseUnits: balanceOf(accounts.reversedPayments),
    liabilities: owed,
    owedBaseUnits: sumOf(owed),
    refundsDueBaseUnits: sumOf(owed.filter(({ account }) => !isOrdinary(account))),
  }
}

function sumOf(lines: readonly { readonly owedBaseUnits: string }[]): string {
  return lines.reduce((sum, line) => sum + BigInt(line.owedBaseUnits), 0n).toString()
}

/** False for a liability that must be refunded to a wallet. */
function isOrdinary(account: string): boolean {
  const ordinary: readonly string[] = [accounts.unearned, accounts.burnOwed, accounts.prepaid]
  return ordinary.includes(account) || shareName(account) !== undefined
}

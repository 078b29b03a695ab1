import { sql } from 'kysely'
import { type Database, readOrFault } from '../store/database.ts'
import { priceOn, valueAt } from './dayPrice.ts'
import { isUnbounded } from './dayRange.ts'
import { cellsOf, type ReportRow, type ReportTable, type SqlRow } from './reportTable.ts'
import type { SumsQuestion } from './sums.ts'

const amounts = [
  'openingDebitBaseUnits',
  'openingCreditBaseUnits',
  'debitBaseUnits',
  'creditBaseUnits',
  'closingDebitBaseUnits',
  'closingCreditBaseUnits',
] as const

/**
 * Trial balance of a period, per kind of account: balance before, movements, balance after. The columns of each pair
 * have the same total. Accounts of single wallets are one line (`Liabilities:Overpaid`), and so are burns
 * (`Expenses:Burned`).
 */
export async function periodBalance(database: Database, question: SumsQuestion): Promise<ReportTable> {
  const rows = await readOrFault('the trial balance', async () => (await query(question).execute(database)).rows)
  const lines = rows.map(cellsOf).map(split)
  const totals = Object.fromEntries(amounts.map((name) => [name, lines.reduce((sum, line) => sum + line[name], 0n)]))
  const price = await readOrFault('the closing price', () =>
    priceOn(database, { mint: question.mint, day: question.to ?? 'infinity' }),
  )
  return {
    columns: ['account', ...amounts, 'closingAtDayPriceMicroUsd'],
    rows: lines.map((line) => ({ ...line, closingAtDayPriceMicroUsd: Number(valueAt(closingOf(line), price)) })),
    totals: { ...totals, closingAtDayPriceMicroUsd: null },
    next: undefined,
  }
}

function query(question: SumsQuestion) {
  const { mint, from, to } = question
  const inPeriod = isUnbounded(question) ? sql`true` : sql`day >= ${from ?? '-infinity'}::date`
  return sql<SqlRow>`
    select account, coalesce(sum(debits - credits) filter (where not (${inPeriod})), 0)::text as "openingBaseUnits",
      coalesce(sum(debits) filter (where ${inPeriod}), 0)::text as "debitBaseUnits",
      coalesce(sum(credits) filter (where ${inPeriod}), 0)::text as "creditBaseUnits"
    from reports.daily_totals
    where mint = ${mint} and ${isUnbounded(question) ? sql`day = '-infinity'` : sql`day > '-infinity' and day <= ${to ?? 'infinity'}::date`}
    group by account
    order by account`
}

type Line = ReportRow & Readonly<Record<(typeof amounts)[number], bigint>>

function split(row: ReportRow): Line {
  const opening = amountIn(row, 'openingBaseUnits')
  const debitBaseUnits = amountIn(row, 'debitBaseUnits')
  const creditBaseUnits = amountIn(row, 'creditBaseUnits')
  const closing = opening + debitBaseUnits - creditBaseUnits
  return {
    account: row['account'] ?? '',
    openingDebitBaseUnits: debitOf(opening),
    openingCreditBaseUnits: debitOf(-opening),
    debitBaseUnits,
    creditBaseUnits,
    closingDebitBaseUnits: debitOf(closing),
    closingCreditBaseUnits: debitOf(-closing),
  }
}

/** Debits are positive. */
function closingOf({ closingDebitBaseUnits, closingCreditBaseUnits }: Line): bigint {
  return closingDebitBaseUnits - closingCreditBaseUnits
}

function debitOf(balanceBaseUnits: bigint): bigint {
  return balanceBaseUnits > 0n ? balanceBaseUnits : 0n
}

function amountIn(row: ReportRow, column: string): bigint {
  const cell = row[column]
  return typeof cell === 'bigint' ? cell : 0n
}

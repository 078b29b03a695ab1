import { sql } from 'kysely'
import { type Database, readRows } from '../store/database.ts'
import { microUsdAt, pricedBy } from './dayPrice.ts'
import { isUnbounded } from './dayRange.ts'
import { cellsOf, type ReportTable, selectList, type SqlColumns, type SqlRow } from './reportTable.ts'
import type { SumsQuestion } from './sums.ts'

// Closing balance. Debits are positive, credits negative.
const closing = sql`(opening + debits - credits)`

const amounts: SqlColumns = {
  openingDebitBaseUnits: sql`greatest(opening, 0)`,
  openingCreditBaseUnits: sql`greatest(-opening, 0)`,
  debitBaseUnits: sql`debits`,
  creditBaseUnits: sql`credits`,
  closingDebitBaseUnits: sql`greatest(${closing}, 0)`,
  closingCreditBaseUnits: sql`greatest(-${closing}, 0)`,
}

const columns: SqlColumns = {
  account: sql`account`,
  ...amounts,
  closingAtDayPriceMicroUsd: microUsdAt('p', closing),
}

/**
 * Lists the opening balance, the movements and the closing balance of each account. Each of the three has equal totals
 * of debits and credits. The accounts of all wallets are one line per kind of debt (`Liabilities:Overpaid`), and all
 * burns are one line (`Expenses:Burned`).
 */
export async function periodBalance(database: Database, question: SumsQuestion): Promise<ReportTable> {
  const { mint, from, to } = question
  const inPeriod = isUnbounded(question) ? sql`true` : sql`day >= ${from ?? '-infinity'}::date`
  const days = isUnbounded(question)
    ? sql`day = '-infinity'`
    : sql`day > '-infinity' and day <= ${to ?? 'infinity'}::date`
  const rows = await readRows(database, 'the trial balance')<SqlRow>`
    select ${selectList(columns)}
    from (
      select account, coalesce(sum(debits - credits) filter (where not (${inPeriod})), 0) as opening,
        coalesce(sum(debits) filter (where ${inPeriod}), 0) as debits,
        coalesce(sum(credits) filter (where ${inPeriod}), 0) as credits
      from reports.daily_totals
      where mint = ${mint} and ${days}
      group by account
    ) t
    left join lateral (${pricedBy(mint, sql`${to ?? 'infinity'}::date`)}) p on true
    order by account`
  const totals = Object.keys(amounts).map(
    (name) => [name, rows.reduce((sum, row) => sum + BigInt(row[name] ?? 0), 0n)] as const,
  )
  return {
    columns: Object.keys(columns),
    rows: rows.map(cellsOf),
    totals: { ...Object.fromEntries(totals), closingAtDayPriceMicroUsd: null },
    next: undefined,
  }
}

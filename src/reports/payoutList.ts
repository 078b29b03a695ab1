import { sql } from 'kysely'
import { accounts } from '../accounting/account.ts'
import { type Database, readRows } from '../store/database.ts'
import { microUsdAt, pricedBy } from './dayPrice.ts'
import { allDays, paidBy } from './dayRange.ts'
import {
  cellsOf,
  isoTimeOf,
  pageOf,
  type ReportRow,
  type ReportTable,
  selectList,
  type SqlColumns,
  type SqlRow,
} from './reportTable.ts'
import type { SumsQuestion } from './sums.ts'

const columns: SqlColumns = {
  paidAt: isoTimeOf(sql`paid_at`),
  reference: sql`reference`,
  planId: sql`plan_id`,
  part: sql`part`,
  account: sql`account`,
  wallet: sql`wallet`,
  paidBaseUnits: sql`amount`,
  paidAtDayPriceMicroUsd: microUsdAt('priced', sql`amount`),
  position: sql`seq`,
}

/**
 * Lists the payouts, newest first. A payout pays accounts and not payments, so it has a separate report. One plan may
 * have several payouts.
 */
export async function payoutList(database: Database, question: SumsQuestion): Promise<ReportTable> {
  const [position = '', line = ''] = question.cursor?.split('.') ?? []
  const older = question.cursor === undefined ? sql`true` : sql`(seq, line) < (${position}::bigint, ${line}::bigint)`
  const rows = await readRows(database, 'the payouts')<SqlRow>`
    select ${selectList(columns)}, line
    from reports.payouts
    left join lateral (${pricedBy(question.mint, sql`(paid_at at time zone 'UTC')::date`)}) priced on true
    where ${ofQuestion(question)} and ${older}
    order by seq desc, line desc
    limit ${question.limit + 1}`
  const { page, last } = pageOf(rows, question)
  return {
    columns: Object.keys(columns),
    rows: page.map(({ line: _line, ...row }) => cellsOf(row)),
    totals: await readTotals(database, question),
    next: last === undefined ? undefined : `${last['position']}.${last['line']}`,
  }
}

function ofQuestion(question: SumsQuestion) {
  return sql.join([sql`mint = ${question.mint}`, ...paidBy(question)], sql` and `)
}

/**
 * Returns the amount paid. A wallet has few payouts, so they are summed. For all wallets, uses the daily totals of the
 * payment wallet.
 */
async function readTotals(database: Database, question: SumsQuestion): Promise<ReportRow> {
  const query =
    question.wallet === undefined
      ? sql<SqlRow>`
        select coalesce(sum(credits - debits), 0)::text as "paidBaseUnits"
        from reports.daily_totals
        where mint = ${question.mint} and ${allDays(question)} and account = ${accounts.paymentWallet} and kind = 'payout'`
      : sql<SqlRow>`
        select coalesce(sum(amount), 0)::text as "paidBaseUnits" from reports.payouts where ${ofQuestion(question)}`
  const [totals = {}] = await readRows(database, 'the payouts')<SqlRow>`${query}`
  return cellsOf(totals)
}

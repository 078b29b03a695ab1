import { type RawBuilder, sql } from 'kysely'
import { isoTime } from '@tollbook/core/clock'
import { accounts } from '../accounting/account.ts'
import { type Database, readOrFault } from '../store/database.ts'
import { microUsdAt, pricedBy } from './dayPrice.ts'
import { allDays, paidBy } from './dayRange.ts'
import { cellsOf, pageOf, type ReportRow, type ReportTable, type SqlRow } from './reportTable.ts'
import type { SumsQuestion } from './sums.ts'

const columns = [
  'paidAt',
  'reference',
  'planId',
  'part',
  'account',
  'wallet',
  'paidBaseUnits',
  'paidAtDayPriceMicroUsd',
  'position',
] as const

/** Lists paid debts, newest first. One payout pays several accounts, and one plan has several payouts. */
export async function payoutList(database: Database, question: SumsQuestion): Promise<ReportTable> {
  const { rows, totals } = await readOrFault('the payouts', async () => ({
    rows: await readPayouts(database, question),
    totals: await readTotals(database, question),
  }))
  const { page, last } = pageOf(rows, question)
  return {
    columns,
    rows: page.map(shown),
    totals,
    next: last === undefined ? undefined : `${Number(last['position'])}.${Number(last['line'])}`,
  }
}

function shown(row: SqlRow): ReportRow {
  const cells = { ...cellsOf(row), paidAt: isoTime(Number(row['paidAt'])) }
  return Object.fromEntries(Object.entries(cells).filter(([name]) => name !== 'line'))
}

async function readPayouts(database: Database, question: SumsQuestion): Promise<readonly SqlRow[]> {
  const [position = '', line = ''] = question.cursor?.split('.') ?? []
  const older = question.cursor === undefined ? sql`true` : sql`(seq, line) < (${position}::bigint, ${line}::bigint)`
  const { rows } = await sql<SqlRow>`
    select (extract(epoch from paid_at) * 1000)::bigint as "paidAt", reference, plan_id as "planId", part, account, wallet,
      amount as "paidBaseUnits", ${microUsdAt('priced', sql`amount`)} as "paidAtDayPriceMicroUsd", seq as position, line
    from reports.payouts
    left join lateral (${pricedBy(question.mint, sql`(paid_at at time zone 'UTC')::date`)}) priced on true
    where ${sql.join([...conditions(question), older], sql` and `)}
    order by seq desc, line desc
    limit ${question.limit + 1}`.execute(database)
  return rows
}

function conditions(question: SumsQuestion): readonly RawBuilder<unknown>[] {
  return [sql`mint = ${question.mint}`, ...paidBy(question)]
}

/**
 * Reads the totals. The few payouts of one wallet are summed. For all wallets, the daily totals of the payment wallet
 * are used.
 */
async function readTotals(database: Database, question: SumsQuestion): Promise<ReportRow> {
  const { rows } =
    question.wallet === undefined
      ? await sql<SqlRow>`
        select coalesce(sum(credits - debits), 0)::text as "paidBaseUnits"
        from reports.daily_totals
        where mint = ${question.mint} and ${allDays(question)} and account = ${accounts.paymentWallet} and kind = 'payout'`.execute(
          database,
        )
      : await sql<SqlRow>`
        select coalesce(sum(amount), 0)::text as "paidBaseUnits"
        from reports.payouts
        where ${sql.join(conditions(question), sql` and `)}`.execute(database)
  return cellsOf(rows[0] ?? {})
}

import { type RawBuilder, sql } from 'kysely'
import { isoTime } from '@tollbook/core/clock'
import { type Database, readOrFault } from '../store/database.ts'
import { microUsdAt, pricedBy } from './dayPrice.ts'
import { allDays, eachDay, paidBefore, paidBy } from './dayRange.ts'
import { cellsOf, pageOf, type ReportRow, type ReportTable, type SqlRow } from './reportTable.ts'
import { readShareNames, shareColumn } from './shareNames.ts'
import type { SumsQuestion } from './sums.ts'

const columnsBefore = [
  'paidAt',
  'reference',
  'wallet',
  'endpoint',
  'state',
  'requiredBaseUnits',
  'burnedBaseUnits',
  'burnOwedBaseUnits',
  'receivedBaseUnits',
  'receivedAtDayPriceMicroUsd',
  'lostBaseUnits',
  'unearnedBaseUnits',
] as const

const columnsAfter = [
  'owedBaseUnits',
  'prepaidBaseUnits',
  'priceMicroUsd',
  'attempts',
  'fulfilledAt',
  'finalizedAt',
  'slot',
  'position',
] as const

/** The columns of a payment without those of its shares. */
export const paymentColumns = [...columnsBefore, ...columnsAfter]

/**
 * Lists payments, newest first, each with the net of its entries: received + lost = unearned + burn owed + shares +
 * owed + prepaid. One column per share. A sale on a tab takes its price out of what is prepaid.
 */
export async function paymentList(database: Database, question: SumsQuestion): Promise<ReportTable> {
  const shares = await readShareNames(database, question.mint)
  const { rows, totals } = await readOrFault('the payments', async () => ({
    rows: await readPayments(database, shares, question),
    totals: await readTotals(database, shares, question),
  }))
  const { page, last } = pageOf(rows, question)
  return {
    columns: [...columnsBefore, ...shares.map(shareColumn), ...columnsAfter],
    rows: page.map(shown),
    totals,
    next: last === undefined ? undefined : `${Number(last['paidAt'])}.${Number(last['position'])}`,
  }
}

async function readPayments(
  database: Database,
  shares: readonly string[],
  question: SumsQuestion,
): Promise<readonly SqlRow[]> {
  const shareColumns = shares.map((name) => sql`coalesce(shares ->> ${name}, '0') as ${sql.ref(shareColumn(name))},`)
  const { rows } = await sql<SqlRow>`
    select (extract(epoch from paid_at) * 1000)::bigint as "paidAt", reference, wallet, endpoint, state, attempts,
      (extract(epoch from fulfilled_at) * 1000)::bigint as "fulfilledAt",
      (extract(epoch from finalized_at) * 1000)::bigint as "finalizedAt", slot, reports.payments.price_micro_usd::bigint as "priceMicroUsd",
      reports.payments.required as "requiredBaseUnits", burned as "burnedBaseUnits", burn_owed as "burnOwedBaseUnits",
      received as "receivedBaseUnits", ${microUsdAt('priced', sql`received`)} as "receivedAtDayPriceMicroUsd", lost as "lostBaseUnits", unearned as "unearnedBaseUnits",
      ${sql.join(shareColumns, sql` `)} owed as "owedBaseUnits", prepaid as "prepaidBaseUnits", stream as position
    from reports.payments
    left join lateral (${pricedBy(question.mint, sql`(paid_at at time zone 'UTC')::date`)}) priced on true
    where ${sql.join(conditions(question), sql` and `)}
    order by paid_at desc, stream desc
    limit ${question.limit + 1}`.execute(database)
  return rows
}

function conditions(question: SumsQuestion): readonly RawBuilder<unknown>[] {
  const { mint, endpoint, state, cursor } = question
  return [
    // A payment that was never verified has no mint yet.
    sql`(mint = ${mint} or mint is null)`,
    ...paidBy(question),
    ...(endpoint === undefined ? [] : [sql`endpoint = ${endpoint}`]),
    ...(state === undefined ? [] : [sql`state = ${state}`]),
    ...paidBefore(cursor),
  ]
}

/** Reads totals of the payments made in the range, including later entries on any day. A filter by state has no totals. */
async function readTotals(
  database: Database,
  shares: readonly string[],
  question: SumsQuestion,
): Promise<ReportRow | undefined> {
  const { mint, endpoint, wallet, state } = question
  if (state !== undefined) return undefined
  const sums = Object.entries(summed).map(
    ([column, name]) => sql`coalesce(sum(${sql.ref(column)}), 0)::text as ${sql.ref(name)}`,
  )
  const shareSums = shares.map(
    (name) => sql`coalesce(sum((shares ->> ${name})::numeric), 0)::text as ${sql.ref(shareColumn(name))}`,
  )
  const { rows } = await sql<SqlRow>`
    select coalesce(sum(payments), 0)::bigint as payments, ${sql.join([...sums, ...shareSums])}
    from reports.payment_totals
    where mint = ${mint} and wallet = ${wallet ?? ''} and ${wallet === undefined ? allDays(question) : eachDay(question)}
      and ${endpoint === undefined ? sql`true` : sql`endpoint = ${endpoint}`}`.execute(database)
  return cellsOf(rows[0] ?? {})
}

const summed = {
  burned: 'burnedBaseUnits',
  burn_owed: 'burnOwedBaseUnits',
  received: 'receivedBaseUnits',
  lost: 'lostBaseUnits',
  unearned: 'unearnedBaseUnits',
  owed: 'owedBaseUnits',
  prepaid: 'prepaidBaseUnits',
} as const

function shown(row: SqlRow): ReportRow {
  const time = (value: string | number | null | undefined) => (typeof value === 'number' ? isoTime(value) : null)
  return {
    ...cellsOf(row),
    paidAt: time(row['paidAt']),
    fulfilledAt: time(row['fulfilledAt']),
    finalizedAt: time(row['finalizedAt']),
  }
}

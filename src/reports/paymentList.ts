import { type RawBuilder, sql } from 'kysely'
import { isoTime } from '@tollbook/core/clock'
import { type Database, readOrFault } from '../store/database.ts'
import { allDays, eachDay } from './dayRange.ts'
import { cellsOf, pageOf, type ReportRow, type ReportTable, type SqlRow } from './reportTable.ts'
import type { SumsQuestion } from './sums.ts'

const columns = [
  'paidAt',
  'signature',
  'wallet',
  'endpoint',
  'state',
  'requiredBaseUnits',
  'burnedBaseUnits',
  'receivedBaseUnits',
  'lostBaseUnits',
  'unearnedBaseUnits',
  'providerBaseUnits',
  'holdersBaseUnits',
  'treasuryBaseUnits',
  'owedBaseUnits',
  'priceMicroUsd',
  'attempts',
  'fulfilledAt',
  'finalizedAt',
  'slot',
  'position',
] as const

/** Payments, the newest first, each with the net of its entries: received + lost = unearned + the three shares + owed. */
export async function paymentList(database: Database, question: SumsQuestion): Promise<ReportTable> {
  const { rows, totals } = await readOrFault('the payments', async () => ({
    rows: await readPayments(database, question),
    totals: await readTotals(database, question),
  }))
  const { page, last } = pageOf(rows, question)
  return {
    columns,
    rows: page.map(shown),
    totals,
    next: last === undefined ? undefined : `${Number(last['paidAt'])}.${Number(last['position'])}`,
  }
}

async function readPayments(database: Database, question: SumsQuestion): Promise<readonly SqlRow[]> {
  const { rows } = await sql<SqlRow>`
    select (extract(epoch from paid_at) * 1000)::bigint as "paidAt", signature, wallet, endpoint, state, attempts,
      (extract(epoch from fulfilled_at) * 1000)::bigint as "fulfilledAt",
      (extract(epoch from finalized_at) * 1000)::bigint as "finalizedAt", slot, price_micro_usd as "priceMicroUsd",
      required as "requiredBaseUnits", burned as "burnedBaseUnits", received as "receivedBaseUnits",
      lost as "lostBaseUnits", unearned as "unearnedBaseUnits", provider as "providerBaseUnits", holders as "holdersBaseUnits",
      treasury as "treasuryBaseUnits", owed as "owedBaseUnits", seq as position
    from reports.payments
    where ${sql.join(conditions(question), sql` and `)}
    order by paid_at desc, seq desc
    limit ${question.limit + 1}`.execute(database)
  return rows
}

function conditions(question: SumsQuestion): readonly RawBuilder<unknown>[] {
  const { mint, from, to, endpoint, wallet, state, cursor } = question
  const [time = '', position = ''] = cursor?.split('.') ?? []
  return [
    // One that was never verified has no mint yet.
    sql`(mint = ${mint} or mint is null)`,
    ...(from === undefined ? [] : [sql`paid_at >= ${from}::date::timestamp at time zone 'UTC'`]),
    ...(to === undefined ? [] : [sql`paid_at < (${to}::date + 1)::timestamp at time zone 'UTC'`]),
    ...(endpoint === undefined ? [] : [sql`endpoint = ${endpoint}`]),
    ...(wallet === undefined ? [] : [sql`wallet = ${wallet}`]),
    ...(state === undefined ? [] : [sql`state = ${state}`]),
    ...(cursor === undefined
      ? []
      : [sql`(paid_at, seq) < (${isoTime(Number(time))}::timestamptz, ${position}::bigint)`]),
  ]
}

/** Of the payments that were made in the range, whenever the rest happened to them. There are none by state. */
async function readTotals(database: Database, question: SumsQuestion): Promise<ReportRow | undefined> {
  const { mint, endpoint, wallet, state } = question
  if (state !== undefined) return undefined
  const sum = (column: string) => sql`coalesce(sum(${sql.ref(column)}), 0)::text as ${sql.ref(`${column}BaseUnits`)}`
  const { rows } = await sql<SqlRow>`
    select coalesce(sum(payments), 0)::bigint as payments, ${sql.join(summed.map(sum))}
    from reports.payment_totals
    where mint = ${mint} and wallet = ${wallet ?? ''} and ${wallet === undefined ? allDays(question) : eachDay(question)}
      and ${endpoint === undefined ? sql`true` : sql`endpoint = ${endpoint}`}`.execute(database)
  return cellsOf(rows[0] ?? {})
}

const summed = ['burned', 'received', 'lost', 'unearned', 'provider', 'holders', 'treasury', 'owed'] as const

function shown(row: SqlRow): ReportRow {
  const time = (value: string | number | null | undefined) => (typeof value === 'number' ? isoTime(value) : null)
  return {
    ...cellsOf(row),
    paidAt: time(row['paidAt']),
    fulfilledAt: time(row['fulfilledAt']),
    finalizedAt: time(row['finalizedAt']),
  }
}

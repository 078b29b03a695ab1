import { sql } from 'kysely'
import { type Database, readRows } from '../store/database.ts'
import { microUsdAt, pricedBy } from './dayPrice.ts'
import { allDays, eachDay, paidBefore, paidBy } from './dayRange.ts'
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
import { readShareNames, shareColumn } from './shareNames.ts'
import type { SumsQuestion } from './sums.ts'

const columnsBefore: SqlColumns = {
  paidAt: isoTimeOf(sql`paid_at`),
  reference: sql`reference`,
  wallet: sql`wallet`,
  endpoint: sql`endpoint`,
  state: sql`state`,
  requiredBaseUnits: sql`p.required`,
  burnedBaseUnits: sql`burned`,
  burnOwedBaseUnits: sql`burn_owed`,
  receivedBaseUnits: sql`received`,
  receivedAtDayPriceMicroUsd: microUsdAt('priced', sql`received`),
  lostBaseUnits: sql`lost`,
  unearnedBaseUnits: sql`unearned`,
}

const columnsAfter: SqlColumns = {
  owedBaseUnits: sql`owed`,
  prepaidBaseUnits: sql`prepaid`,
  priceMicroUsd: sql`p.price_micro_usd`,
  attempts: sql`attempts`,
  fulfilledAt: isoTimeOf(sql`fulfilled_at`),
  finalizedAt: isoTimeOf(sql`finalized_at`),
  slot: sql`slot`,
  position: sql`stream`,
}

/** Columns of a payment without those of the shares, because the shares depend on the ledger. */
export const paymentColumns = Object.keys({ ...columnsBefore, ...columnsAfter })

/**
 * Lists payments, newest first, each with the net of its entries: received + lost = unearned + burn owed + shares +
 * owed + prepaid. Each share has a column. A sale on a tab reduces the prepaid amount by its price.
 */
export async function paymentList(database: Database, question: SumsQuestion): Promise<ReportTable> {
  const shares = await readShareNames(database, question.mint)
  const ofShares = shares.map((name) => [shareColumn(name), sql`coalesce(shares ->> ${name}, '0')`] as const)
  const columns = { ...columnsBefore, ...Object.fromEntries(ofShares), ...columnsAfter }
  const rows = await readRows(database, 'the payments')<SqlRow>`
    select ${selectList(columns)}
    from reports.payments p
    left join lateral (${pricedBy(question.mint, sql`(paid_at at time zone 'UTC')::date`)}) priced on true
    where ${ofQuestion(question)}
    order by paid_at desc, stream desc
    limit ${question.limit + 1}`
  const { page, last } = pageOf(rows, question)
  return {
    columns: Object.keys(columns),
    rows: page.map(cellsOf),
    totals: await readTotals(database, shares, question),
    next: last === undefined ? undefined : `${Date.parse(String(last['paidAt']))}.${last['position']}`,
  }
}

function ofQuestion(question: SumsQuestion) {
  const { mint, endpoint, state, cursor } = question
  const conditions = [
    // Include payments without a mint, because a payment that was never verified has no mint yet.
    sql`(mint = ${mint} or mint is null)`,
    ...paidBy(question),
    ...(endpoint === undefined ? [] : [sql`endpoint = ${endpoint}`]),
    ...(state === undefined ? [] : [sql`state = ${state}`]),
    ...paidBefore(cursor),
  ]
  return sql.join(conditions, sql` and `)
}

const summed = ['burned', 'burn_owed', 'received', 'lost', 'unearned', 'owed', 'prepaid'] as const

/**
 * Reads the totals of the payments. They include later entries of these payments on any day, so that they equal the
 * sums of the rows. Undefined with a filter by state, which has no totals.
 */
async function readTotals(
  database: Database,
  shares: readonly string[],
  question: SumsQuestion,
): Promise<ReportRow | undefined> {
  const { mint, endpoint, wallet, state } = question
  if (state !== undefined) return undefined
  const amounts = summed.map((column) => [nameOf(column), sql.ref(column)] as const)
  const ofShares = shares.map((name) => [shareColumn(name), sql`(shares ->> ${name})::numeric`] as const)
  const sums = [...amounts, ...ofShares].map(([name, amount]) => [name, sql`coalesce(sum(${amount}), 0)`] as const)
  const columns = { payments: sql`coalesce(sum(payments), 0)::bigint`, ...Object.fromEntries(sums) }
  // The rows with an empty wallet have the sums of all wallets. Only these rows have sums over all days.
  const [totals = {}] = await readRows(database, 'the payments')<SqlRow>`
    select ${selectList(columns)}
    from reports.payment_totals
    where mint = ${mint} and wallet = ${wallet ?? ''} and ${wallet === undefined ? allDays(question) : eachDay(question)}
      and ${endpoint === undefined ? sql`true` : sql`endpoint = ${endpoint}`}`
  return cellsOf(totals)
}

function nameOf(column: (typeof summed)[number]): string {
  return column === 'burn_owed' ? 'burnOwedBaseUnits' : `${column}BaseUnits`
}

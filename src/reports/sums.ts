import { type RawBuilder, sql } from 'kysely'
import { accounts } from '../accounting/account.ts'
import { type Database, readOrFault } from '../store/database.ts'
import { allDays, eachDay } from './dayRange.ts'
import type { ReportQuestion } from './reportQuestion.ts'
import { cellsOf, pageOf, type ReportRow, type ReportTable, type SqlRow } from './reportTable.ts'

export interface SumsQuestion extends ReportQuestion {
  readonly mint: string
}

/** One column that can be summed over days or endpoints, and over wallets. */
interface Measure {
  readonly name: string
  readonly ofDays: RawBuilder<unknown>
  /** Undefined where it belongs to no wallet. */
  readonly ofWallets: RawBuilder<unknown> | undefined
}

// What happens to single payments has an endpoint; a payout, which is of many at once, has none.
const ofPayments = sql`endpoint <> ''`
const debited = (account: string) =>
  sql`coalesce(sum(debits - credits) filter (where account = ${account} and ${ofPayments}), 0)::text`
const credited = (account: string) =>
  sql`coalesce(sum(credits - debits) filter (where account = ${account} and ${ofPayments}), 0)::text`

const burnMeasures: readonly Measure[] = [
  {
    name: 'payments',
    ofDays: sql`coalesce(sum(debit_entries - credit_entries) filter (where account = ${accounts.burned}), 0)::bigint`,
    ofWallets: sql`coalesce(sum(payments), 0)::bigint`,
  },
  { name: 'burnedBaseUnits', ofDays: debited(accounts.burned), ofWallets: sql`coalesce(sum(burned), 0)::text` },
]

const shared = [accounts.provider, accounts.holders, accounts.treasury]

const distributionMeasures: readonly Measure[] = [
  {
    name: 'receivedBaseUnits',
    ofDays: debited(accounts.paymentWallet),
    ofWallets: sql`coalesce(sum(received), 0)::text`,
  },
  { name: 'providerBaseUnits', ofDays: credited(accounts.provider), ofWallets: sql`coalesce(sum(provider), 0)::text` },
  { name: 'holdersBaseUnits', ofDays: credited(accounts.holders), ofWallets: sql`coalesce(sum(holders), 0)::text` },
  { name: 'treasuryBaseUnits', ofDays: credited(accounts.treasury), ofWallets: sql`coalesce(sum(treasury), 0)::text` },
  {
    name: 'allocatedBaseUnits',
    ofDays: sql`coalesce(sum(credits - debits) filter (where account = any(${shared}) and ${ofPayments}), 0)::text`,
    ofWallets: sql`coalesce(sum(provider + holders + treasury), 0)::text`,
  },
  { name: 'lostBaseUnits', ofDays: debited(accounts.reversedPayments), ofWallets: sql`coalesce(sum(lost), 0)::text` },
  {
    name: 'paidOutBaseUnits',
    ofDays: sql`coalesce(sum(debits - credits) filter (where account = any(${shared}) and endpoint = ''), 0)::text`,
    ofWallets: undefined,
  },
  {
    name: 'paidBackBaseUnits',
    ofDays: sql`coalesce(sum(debits - credits) filter (
      where account like 'Liabilities:%' and account <> all(${shared}) and endpoint = ''), 0)::text`,
    ofWallets: undefined,
  },
]

/** What was burned: how much, and in how many payments. A reversal takes both back on its own day. */
export function burnSums(database: Database, question: SumsQuestion): Promise<ReportTable> {
  return sums(database, burnMeasures, question)
}

/** What was received, to whom it was allocated, what of that was lost to reversals, and what was paid out and back. */
export function distributionSums(database: Database, question: SumsQuestion): Promise<ReportTable> {
  return sums(database, distributionMeasures, question)
}

async function sums(database: Database, measures: readonly Measure[], question: SumsQuestion): Promise<ReportTable> {
  const { by } = question
  // Payouts are made for a day and not for an endpoint or a wallet.
  const shown = by === 'day' ? measures : measures.filter(({ ofWallets }) => ofWallets !== undefined)
  const { rows, totals } = await readOrFault(`the sums by ${by}`, async () => ({
    rows: await readGroups(database, shown, question),
    totals: await readTotals(database, shown, question),
  }))
  const { page, last } = pageOf(rows, question)
  return { columns: [by, ...shown.map(({ name }) => name)], rows: page, totals, next: textOf(last, by) }
}

async function readGroups(
  database: Database,
  measures: readonly Measure[],
  question: SumsQuestion,
): Promise<readonly ReportRow[]> {
  const { by, mint, cursor, limit } = question
  const columns = columnsOf(measures, by === 'wallet' ? 'ofWallets' : 'ofDays')
  const query = {
    // Newest first, as it is read.
    day: sql<SqlRow>`select day::text as day, ${columns} from reports.daily_totals
      where mint = ${mint} and ${eachDay(question)} and ${after(cursor, sql`day < ${cursor}::date`)}
      group by reports.daily_totals.day order by reports.daily_totals.day desc limit ${limit + 1}`,
    endpoint: sql<SqlRow>`select endpoint, ${columns} from reports.daily_totals
      where mint = ${mint} and ${allDays(question)} and ${ofPayments} and ${after(cursor, sql`endpoint > ${cursor}`)}
      group by endpoint order by endpoint limit ${limit + 1}`,
    // Walks the primary key and stops at the end of the page, however many wallets there are.
    wallet: sql<SqlRow>`select wallet, ${columns} from reports.wallet_totals
      where mint = ${mint} and ${eachDay(question)} and ${after(cursor, sql`wallet > ${cursor}`)}
      group by wallet order by wallet limit ${limit + 1}`,
  }[by]
  const { rows } = await query.execute(database)
  return rows.map(cellsOf)
}

async function readTotals(
  database: Database,
  measures: readonly Measure[],
  question: SumsQuestion,
): Promise<ReportRow> {
  const { rows } = await sql<SqlRow>`select ${columnsOf(measures, 'ofDays')} from reports.daily_totals
    where mint = ${question.mint} and ${allDays(question)}`.execute(database)
  return cellsOf(rows[0] ?? {})
}

function columnsOf(measures: readonly Measure[], kind: 'ofDays' | 'ofWallets'): RawBuilder<unknown> {
  return sql.join(measures.map((measure) => sql`${measure[kind] ?? sql`null`} as ${sql.ref(measure.name)}`))
}

function after(cursor: string | undefined, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return cursor === undefined ? sql`true` : condition
}

function textOf(row: ReportRow | undefined, column: string): string | undefined {
  const cell = row?.[column]
  return typeof cell === 'string' ? cell : undefined
}

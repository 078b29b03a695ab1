import { type RawBuilder, sql } from 'kysely'
import { accounts, shareOf } from '../accounting/account.ts'
import { type Database, readOrFault } from '../store/database.ts'
import { eachDay } from './dayRange.ts'
import { pricedTotals } from './dayPrice.ts'
import type { ReportQuestion } from './reportQuestion.ts'
import { cellsOf, pageOf, type ReportRow, type ReportTable, type SqlRow } from './reportTable.ts'
import { readShareNames, shareColumn } from './shareNames.ts'

export interface SumsQuestion extends ReportQuestion {
  readonly mint: string
}

/** A column that can be summed over days or endpoints, and over wallets if `ofWallets` is set. */
interface Measure {
  readonly name: string
  readonly ofDays: RawBuilder<unknown>
  /** Undefined if the amount does not belong to a wallet. */
  readonly ofWallets?: RawBuilder<unknown>
  /** True if the amount does not belong to an endpoint either, because payouts pay accounts. */
  readonly isOfDaysOnly?: true
}

// Payouts pay the debts of many payments at once, and burns burn what many payments owed. All other events belong to
// single payments.
const ofPayouts = sql`kind = 'payout'`
const ofBurns = sql`kind = 'burn'`
const ofPayments = sql`kind <> 'payout' and kind <> 'burn'`
const burned = 'Expenses:Burned'

function debited(account: string, which: RawBuilder<unknown>) {
  return sql`coalesce(sum(debits - credits) filter (where account = ${account} and ${which}), 0)::text`
}

function credited(account: string, which: RawBuilder<unknown>) {
  return sql`coalesce(sum(credits - debits) filter (where account = ${account} and ${which}), 0)::text`
}

/** Value in millionths of a dollar at the quoted price of each payment. */
function valueDebited(account: string) {
  return sql`coalesce(div(sum(value_pico_usd) filter (where account = ${account} and ${ofPayments}), 1000000), 0)::bigint`
}

function valueCredited(account: string) {
  return sql`coalesce(div(-sum(value_pico_usd) filter (where account = ${account} and ${ofPayments}), 1000000), 0)::bigint`
}

/**
 * Value in millionths of a dollar at the price of the day of each movement. `sign` is 1 if debits are positive, and -1
 * if credits are.
 */
function valueOfDays(name: string, sign: 1 | -1, which: RawBuilder<unknown>): Measure {
  return {
    name: `${name}AtDayPriceMicroUsd`,
    ofDays: sql`coalesce(div(${sql.lit(sign)} * sum(day_pico_usd) filter (where ${which}), 1000000), 0)::bigint`,
  }
}

const burnMeasures: readonly Measure[] = [
  {
    name: 'payments',
    ofDays: sql`coalesce(sum(payments), 0)::bigint`,
    ofWallets: sql`coalesce(sum(payments), 0)::bigint`,
  },
  { name: 'burnedBaseUnits', ofDays: debited(burned, ofPayments), ofWallets: sql`coalesce(sum(burned), 0)::text` },
  { name: 'burnedMicroUsd', ofDays: valueDebited(burned) },
  valueOfDays('burned', 1, sql`account = ${burned} and ${ofPayments}`),
  {
    name: 'burnOwedBaseUnits',
    ofDays: credited(accounts.burnOwed, ofPayments),
    ofWallets: sql`coalesce(sum(burn_owed), 0)::text`,
  },
  { name: 'burnOwedMicroUsd', ofDays: valueCredited(accounts.burnOwed) },
  valueOfDays('burnOwed', -1, sql`account = ${accounts.burnOwed} and ${ofPayments}`),
  // A promise and its reversal belong to the endpoint of the sale in dollars, a delivery to none.
  { name: 'promisedBaseUnits', ofDays: debited(accounts.tokensToDeliver, sql`endpoint <> ''`) },
  { name: 'deliveredBaseUnits', ofDays: credited(accounts.tokensToDeliver, sql`endpoint = ''`), isOfDaysOnly: true },
  { name: 'burnConfirmedBaseUnits', ofDays: debited(burned, ofBurns) },
  valueOfDays('burnConfirmed', 1, sql`account = ${burned} and ${ofBurns}`),
]

function distributionMeasures(shares: readonly string[]): readonly Measure[] {
  const isShare = sql`account like 'Liabilities:Share:%'`
  return [
    {
      name: 'receivedBaseUnits',
      ofDays: debited(accounts.paymentWallet, ofPayments),
      ofWallets: sql`coalesce(sum(received), 0)::text`,
    },
    { name: 'receivedMicroUsd', ofDays: valueDebited(accounts.paymentWallet) },
    valueOfDays('received', 1, sql`account = ${accounts.paymentWallet} and ${ofPayments}`),
    ...shares.map((name) => ({
      name: shareColumn(name),
      ofDays: credited(shareOf(name), ofPayments),
      ofWallets: sql`coalesce(sum((shares ->> ${name})::numeric), 0)::text`,
    })),
    {
      name: 'allocatedBaseUnits',
      ofDays: sql`coalesce(sum(credits - debits) filter (where ${isShare} and ${ofPayments}), 0)::text`,
      ofWallets: sql`coalesce(sum((select sum(value::numeric) from jsonb_each(shares))), 0)::text`,
    },
    {
      name: 'allocatedMicroUsd',
      ofDays: sql`coalesce(div(-sum(value_pico_usd) filter (where ${isShare} and ${ofPayments}), 1000000), 0)::bigint`,
    },
    valueOfDays('allocated', -1, sql`${isShare} and ${ofPayments}`),
    {
      name: 'burnOwedBaseUnits',
      ofDays: credited(accounts.burnOwed, ofPayments),
      ofWallets: sql`coalesce(sum(burn_owed), 0)::text`,
    },
    { name: 'prepaidBaseUnits', ofDays: credited(accounts.prepaid, ofPayments) },
    {
      name: 'lostBaseUnits',
      ofDays: debited(accounts.reversedPayments, ofPayments),
      ofWallets: sql`coalesce(sum(lost), 0)::text`,
    },
    {
      name: 'paidOutBaseUnits',
      ofDays: sql`coalesce(sum(debits - credits) filter (where ${isShare} and ${ofPayouts}), 0)::text`,
      isOfDaysOnly: true,
    },
    { ...valueOfDays('paidOut', 1, sql`${isShare} and ${ofPayouts}`), isOfDaysOnly: true },
    {
      name: 'paidBackBaseUnits',
      ofDays: sql`coalesce(sum(debits - credits) filter (
        where account like 'Liabilities:%' and not ${isShare} and ${ofPayouts}), 0)::text`,
      isOfDaysOnly: true,
    },
    {
      name: 'burnPaidBaseUnits',
      ofDays: sql`coalesce(sum(credits - debits) filter (where account = ${accounts.paymentWallet} and ${ofBurns}), 0)::text`,
      isOfDaysOnly: true,
    },
  ]
}

/**
 * Sums the burns inside payments, the burns that became owed, and the later burns by the service. A reversal subtracts
 * its burn on the day of the payment.
 */
export function burnSums(database: Database, question: SumsQuestion): Promise<ReportTable> {
  return sums(database, burnMeasures, question)
}

/** Sums what was received, allocated to each share, lost to reversals, paid out, and refunded. */
export async function distributionSums(database: Database, question: SumsQuestion): Promise<ReportTable> {
  return sums(database, distributionMeasures(await readShareNames(database, question.mint)), question)
}

async function sums(database: Database, measures: readonly Measure[], question: SumsQuestion): Promise<ReportTable> {
  const { by } = question
  const shown = measures.filter((measure) => hasGrouping(measure, by))
  const { rows, totals } = await readOrFault(`the sums by ${by}`, async () => ({
    rows: await readGroups(database, shown, question),
    totals: await readTotals(database, shown, question),
  }))
  const { page, last } = pageOf(rows, question)
  return { columns: [by, ...shown.map(({ name }) => name)], rows: page, totals, next: textOf(last, by) }
}

function hasGrouping({ ofWallets, isOfDaysOnly }: Measure, by: ReportQuestion['by']): boolean {
  return by === 'day' || (by === 'endpoint' ? isOfDaysOnly !== true : ofWallets !== undefined)
}

async function readGroups(
  database: Database,
  measures: readonly Measure[],
  question: SumsQuestion,
): Promise<readonly ReportRow[]> {
  const { by, mint, cursor, limit } = question
  const columns = columnsOf(measures, by === 'wallet' ? 'ofWallets' : 'ofDays')
  const query = {
    // The newest day comes first, in the order of reading.
    day: sql<SqlRow>`select day::text as day, ${columns} from ${pricedTotals(mint, eachDay(question))} as t
      where ${after(cursor, sql`t.day < ${cursor}::date`)}
      group by t.day order by t.day desc limit ${limit + 1}`,
    endpoint: sql<SqlRow>`select endpoint, ${columns} from ${pricedTotals(mint, eachDay(question))} as t
      where endpoint <> '' and ${after(cursor, sql`endpoint > ${cursor}`)}
      group by endpoint order by endpoint limit ${limit + 1}`,
    // Reads along the primary key and stops at the end of the page, so the number of wallets does not matter.
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
  const { rows } = await sql<SqlRow>`select ${columnsOf(measures, 'ofDays')}
    from ${pricedTotals(question.mint, eachDay(question))} as t`.execute(database)
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

import { type RawBuilder, sql } from 'kysely'
import { accounts, shareOf } from '../accounting/account.ts'
import { type Database, readRows } from '../store/database.ts'
import { eachDay } from './dayRange.ts'
import { pricedTotals } from './dayPrice.ts'
import type { ReportQuestion } from './reportQuestion.ts'
import { cellsOf, pageOf, type ReportTable, selectList, type SqlRow } from './reportTable.ts'
import { readShareNames, shareColumn } from './shareNames.ts'

export interface SumsQuestion extends ReportQuestion {
  readonly mint: string
}

interface Measure {
  readonly name: string
  readonly ofDays: RawBuilder<unknown>
  /** Sum over wallets. Undefined: the amount does not belong to a wallet. */
  readonly ofWallets?: RawBuilder<unknown>
  /** True if the amount belongs to a day only and not to an endpoint, for example because payouts pay accounts. */
  readonly isOfDaysOnly?: true
}

/** `sign` is 1 if debits count as positive, and -1 if credits count as positive. */
interface Movements {
  readonly sign: 1 | -1
  readonly which: RawBuilder<unknown>
}

// A payout pays the debts of many payments at once, and a burn burns the debts of many payments, so both are measured
// apart. The other events count as events of payments.
const byPayouts = (sign: 1 | -1, account: RawBuilder<unknown>) => ({ sign, which: sql`${account} and kind = 'payout'` })
const byBurns = (sign: 1 | -1, account: RawBuilder<unknown>) => ({ sign, which: sql`${account} and kind = 'burn'` })
const byPayments = (sign: 1 | -1, account: RawBuilder<unknown>) => {
  return { sign, which: sql`${account} and kind <> 'payout' and kind <> 'burn'` }
}
const on = (account: string) => sql`account = ${account}`
const isShare = sql`account like 'Liabilities:Share:%'`
const ofBurned = on('Expenses:Burned')

function amount({ sign, which }: Movements): RawBuilder<unknown> {
  return sql`coalesce(${sql.lit(sign)} * sum(debits - credits) filter (where ${which}), 0)`
}

/**
 * Returns a value in millionths of a dollar, at the quoted price of each payment or at the price of the day of each
 * movement.
 */
function value(column: 'value_pico_usd' | 'day_pico_usd', { sign, which }: Movements): RawBuilder<unknown> {
  return sql`coalesce(div(${sql.lit(sign)} * sum(${sql.ref(column)}) filter (where ${which}), 1000000), 0)`
}

function dayValue(name: string, movements: Movements): Measure {
  return { name: `${name}AtDayPriceMicroUsd`, ofDays: value('day_pico_usd', movements) }
}

function valued(name: string, movements: Movements, ofWallets: RawBuilder<unknown>): readonly Measure[] {
  return [
    { name: `${name}BaseUnits`, ofDays: amount(movements), ofWallets },
    { name: `${name}MicroUsd`, ofDays: value('value_pico_usd', movements) },
    dayValue(name, movements),
  ]
}

function ofWallet(column: 'payments' | 'burned' | 'burn_owed' | 'received' | 'lost'): RawBuilder<unknown> {
  return sql`coalesce(sum(${sql.ref(column)}), 0)`
}

const becameOwed = byPayments(-1, on(accounts.burnOwed))

const burnMeasures: readonly Measure[] = [
  {
    name: 'payments',
    ofDays: sql`coalesce(sum(payments), 0)::bigint`,
    ofWallets: sql`${ofWallet('payments')}::bigint`,
  },
  ...valued('burned', byPayments(1, ofBurned), ofWallet('burned')),
  ...valued('burnOwed', becameOwed, ofWallet('burn_owed')),
  // A promise and its reversal have the endpoint of the sale in dollars. A delivery has no endpoint.
  {
    name: 'promisedBaseUnits',
    ofDays: amount({ sign: 1, which: sql`${on(accounts.tokensToDeliver)} and endpoint <> ''` }),
  },
  {
    name: 'deliveredBaseUnits',
    ofDays: amount({ sign: -1, which: sql`${on(accounts.tokensToDeliver)} and endpoint = ''` }),
    isOfDaysOnly: true,
  },
  { name: 'burnConfirmedBaseUnits', ofDays: amount(byBurns(1, ofBurned)) },
  dayValue('burnConfirmed', byBurns(1, ofBurned)),
]

function distributionMeasures(shares: readonly string[]): readonly Measure[] {
  const paidBack = sql`account like 'Liabilities:%' and not ${isShare}`
  return [
    ...valued('received', byPayments(1, on(accounts.paymentWallet)), ofWallet('received')),
    ...shares.map((name) => ({
      name: shareColumn(name),
      ofDays: amount(byPayments(-1, on(shareOf(name)))),
      ofWallets: sql`coalesce(sum((shares ->> ${name})::numeric), 0)`,
    })),
    ...valued(
      'allocated',
      byPayments(-1, isShare),
      sql`coalesce(sum((select sum(value::numeric) from jsonb_each(shares))), 0)`,
    ),
    { name: 'burnOwedBaseUnits', ofDays: amount(becameOwed), ofWallets: ofWallet('burn_owed') },
    { name: 'prepaidBaseUnits', ofDays: amount(byPayments(-1, on(accounts.prepaid))) },
    {
      name: 'lostBaseUnits',
      ofDays: amount(byPayments(1, on(accounts.reversedPayments))),
      ofWallets: ofWallet('lost'),
    },
    { name: 'paidOutBaseUnits', ofDays: amount(byPayouts(1, isShare)), isOfDaysOnly: true },
    { ...dayValue('paidOut', byPayouts(1, isShare)), isOfDaysOnly: true },
    { name: 'paidBackBaseUnits', ofDays: amount(byPayouts(1, paidBack)), isOfDaysOnly: true },
    { name: 'burnPaidBaseUnits', ofDays: amount(byBurns(-1, on(accounts.paymentWallet))), isOfDaysOnly: true },
  ]
}

/** Sums the burns. A reversal subtracts its burn on the day of the payment. */
export function burnSums(database: Database, question: SumsQuestion): Promise<ReportTable> {
  return sums(database, burnMeasures, question)
}

export async function distributionSums(database: Database, question: SumsQuestion): Promise<ReportTable> {
  return sums(database, distributionMeasures(await readShareNames(database, question.mint)), question)
}

async function sums(database: Database, measures: readonly Measure[], question: SumsQuestion): Promise<ReportTable> {
  const { by, mint } = question
  const shown = measures.filter((measure) => hasGrouping(measure, by))
  const what = `the sums by ${by}`
  const rows = await readRows(database, what)<SqlRow>`${groupsQuery(shown, question)}`
  const [totals = {}] = await readRows(database, what)<SqlRow>`
    select ${columnsOf(shown, 'ofDays')} from ${pricedTotals(mint, eachDay(question))} as t`
  const { page, last } = pageOf(rows, question)
  const next = last === undefined ? undefined : String(last[by])
  return { columns: [by, ...shown.map(({ name }) => name)], rows: page.map(cellsOf), totals: cellsOf(totals), next }
}

function hasGrouping({ ofWallets, isOfDaysOnly }: Measure, by: ReportQuestion['by']): boolean {
  return by === 'day' || (by === 'endpoint' ? isOfDaysOnly !== true : ofWallets !== undefined)
}

function groupsQuery(measures: readonly Measure[], question: SumsQuestion): RawBuilder<SqlRow> {
  const { by, mint, cursor, limit } = question
  const columns = columnsOf(measures, by === 'wallet' ? 'ofWallets' : 'ofDays')
  return {
    // The newest day comes first, and the cursor continues with earlier days.
    day: sql<SqlRow>`select day::text as day, ${columns} from ${pricedTotals(mint, eachDay(question))} as t
      where ${after(cursor, sql`t.day < ${cursor}::date`)}
      group by t.day order by t.day desc limit ${limit + 1}`,
    endpoint: sql<SqlRow>`select endpoint, ${columns} from ${pricedTotals(mint, eachDay(question))} as t
      where endpoint <> '' and ${after(cursor, sql`endpoint > ${cursor}`)}
      group by endpoint order by endpoint limit ${limit + 1}`,
    // Read along the primary key and stop at the end of the page, so that the cost is independent of the number of
    // wallets.
    wallet: sql<SqlRow>`select wallet, ${columns} from reports.wallet_totals
      where mint = ${mint} and ${eachDay(question)} and ${after(cursor, sql`wallet > ${cursor}`)}
      group by wallet order by wallet limit ${limit + 1}`,
  }[by]
}

function columnsOf(measures: readonly Measure[], kind: 'ofDays' | 'ofWallets'): RawBuilder<unknown> {
  return selectList(Object.fromEntries(measures.map((measure) => [measure.name, measure[kind] ?? sql`null`])))
}

function after(cursor: string | undefined, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return cursor === undefined ? sql`true` : condition
}

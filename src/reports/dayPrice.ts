import { type RawBuilder, sql } from 'kysely'
import { divideTowardsZero, formatDecimal } from '@tollbook/core/money'
import type { Database } from '../store/database.ts'

/*
 * The price of a day: the mean of the quoted prices of that UTC day's payments, weighted by amount. A day without
 * payments has the price of the last day before it with payments.
 */

/** The price is `priceMicroUsd` divided by `forBaseUnits`. */
export interface DayPrice {
  readonly day: string
  readonly priceMicroUsd: bigint
  readonly forBaseUnits: bigint
}

const allPrices = sql`reports.day_prices`

/**
 * Returns a subquery for the row of the last priced day on or before `day`, or no row before the first. Its columns are
 * `priced_day`, `price_micro_usd` and `required`. `prices` must have the columns of `reports.day_prices`.
 */
export function pricedBy(
  mint: string | RawBuilder<unknown>,
  day: RawBuilder<unknown>,
  prices: RawBuilder<unknown> = allPrices,
): RawBuilder<unknown> {
  return sql`select p.day as priced_day, p.price_micro_usd, p.required from ${prices} p
    where p.mint = ${mint} and p.day <= ${day} order by p.day desc limit 1`
}

/**
 * Returns an expression in 10^-12 dollars, rounded toward zero. Null before the first price. `prices` is the alias of a
 * row from `pricedBy`.
 */
export function picoUsdAt(prices: string, baseUnits: RawBuilder<unknown>): RawBuilder<unknown> {
  const [price, required] = [sql.ref(`${prices}.price_micro_usd`), sql.ref(`${prices}.required`)]
  return sql`div((${baseUnits}) * ${price} * 1000000, ${required})`
}

/** Returns an expression in millionths of a dollar. 0 before the first price. */
export function microUsdAt(prices: string, baseUnits: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`coalesce(div(${picoUsdAt(prices, baseUnits)}, 1000000), 0)`
}

/**
 * Returns a subquery for the daily totals with the column `day_pico_usd`: debits less credits at the price of the day.
 * The prices are materialized, because otherwise PostgreSQL reads them for every row while the tables have no
 * statistics.
 */
export function pricedTotals(mint: string, days: RawBuilder<boolean>): RawBuilder<unknown> {
  return sql`(
    with p as materialized (
      select d.day as of_day, p.price_micro_usd, p.required
      from (select distinct day from reports.daily_totals where mint = ${mint} and ${days}) d
      cross join lateral (${pricedBy(mint, sql`d.day`)}) p)
    select t.*, coalesce(${picoUsdAt('p', sql`t.debits - t.credits`)}, 0) as day_pico_usd
    from reports.daily_totals t left join p on p.of_day = t.day
    where t.mint = ${mint} and ${days})`
}

export async function priceOn(
  database: Database,
  { mint, day, prices }: { readonly mint: string; readonly day: string; readonly prices?: RawBuilder<unknown> },
): Promise<DayPrice | undefined> {
  const { rows } = await sql<{ day: string; price: string; required: string }>`
    select p.priced_day::text as day, p.price_micro_usd::text as price, p.required::text as required
    from (${pricedBy(mint, sql`${day}::date`, prices)}) p`.execute(database)
  const [row] = rows
  return row === undefined
    ? undefined
    : { day: row.day, priceMicroUsd: BigInt(row.price), forBaseUnits: BigInt(row.required) }
}

/** Returns the value in millionths of a dollar, rounded toward zero. 0 before the first price. */
export function valueAt(baseUnits: bigint, price: DayPrice | undefined): bigint {
  return price === undefined ? 0n : divideTowardsZero(baseUnits * price.priceMicroUsd, price.forBaseUnits)
}

/** Returns the prices, oldest first. A price is cut off after 18 decimals. */
export async function tokenPrices(
  database: Database,
  { mint, decimals }: { readonly mint: string; readonly decimals: number },
): Promise<readonly { readonly day: string; readonly usd: string }[]> {
  const { rows } = await sql<{ day: string; atto_usd: string }>`
    select day::text as day, div(price_micro_usd * power(10::numeric, ${decimals + 12}), required)::text as atto_usd
    from reports.day_prices where mint = ${mint} order by day`.execute(database)
  return rows.map(({ day, atto_usd: attoUsd }) => ({ day, usd: formatDecimal(BigInt(attoUsd), attoDecimals) }))
}

const attoDecimals = 18

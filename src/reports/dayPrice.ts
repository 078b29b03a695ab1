import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../store/database.ts'

/*
 * The price of a day: the mean of the prices quoted to the payments of that UTC day, weighted by amount. A day without a
 * payment has the price of the newest day before it that has one.
 */

/** Sums over the payments of a day; the price is their quotient. */
export interface DayPrice {
  readonly day: string
  readonly priceMicroUsd: bigint
  readonly forBaseUnits: bigint
}

/** Subquery of one row, or none before the first payment: `day`, `price_micro_usd`, `required`. */
export function pricedBy(mint: string, day: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select p.day, p.price_micro_usd, p.required from reports.day_prices p
    where p.mint = ${mint} and p.day <= ${day} order by p.day desc limit 1`
}

/** Value of an amount in 10^-12 dollars, rounded toward zero; null before the first price. `prices` is an alias of such a row. */
export function picoUsdAt(prices: string, baseUnits: RawBuilder<unknown>): RawBuilder<unknown> {
  const [price, required] = [sql.ref(`${prices}.price_micro_usd`), sql.ref(`${prices}.required`)]
  return sql`div((${baseUnits}) * ${price} * 1000000, ${required})`
}

export async function priceOn(
  database: Database,
  { mint, day }: { readonly mint: string; readonly day: string },
): Promise<DayPrice | undefined> {
  const { rows } = await sql<{ day: string; price: string; required: string }>`
    select p.day::text as day, p.price_micro_usd::text as price, p.required::text as required
    from (${pricedBy(mint, sql`${day}::date`)}) p`.execute(database)
  const [row] = rows
  return row === undefined
    ? undefined
    : { day: row.day, priceMicroUsd: BigInt(row.price), forBaseUnits: BigInt(row.required) }
}

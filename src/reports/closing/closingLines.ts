import { type RawBuilder, sql } from 'kysely'
import { picoUsdAt, pricedBy } from '../dayPrice.ts'
import type { ClosingLine } from './closingFigures.ts'
import type { ClosingRange } from './closingRange.ts'
import type { Database } from '../../store/database.ts'

export interface LinesQuestion extends ClosingRange {
  readonly mint: string
}

interface LineRow {
  readonly part: ClosingLine['part']
  readonly kind: string
  readonly account: string
  readonly debits: string
  readonly credits: string
  readonly quoted: string
  readonly day_debits: string
  readonly day_credits: string
}

/**
 * Reads the sums of each account, without unstated events. Entries that were recorded after the close of their month
 * are in the part `restated`, or in the opening of later months. Dollars of a day are computed once for its sum, so
 * that a late entry cannot move a closed month by rounding.
 */
export async function readLines(snapshot: Database, question: LinesQuestion): Promise<readonly ClosingLine[]> {
  const { mint, from, to, opening, position, statedUpto, rolledUpto } = question
  const { rows } = await sql<LineRow>`
    with rolled as materialized (
      select day, kind, account, sum(debits) as debits, sum(credits) as credits, sum(value_pico_usd) as quoted
      from reports.daily_totals
      where mint = ${mint} and day > '-infinity' and day <= ${to}::date
      group by day, kind, account
    ),
    unstated as materialized (
      select day, kind, account, greatest(amount, 0) as debits, greatest(-amount, 0) as credits, value as quoted
      from reports.posted
      where mint = ${mint} and day <= ${to}::date and seq > ${statedUpto} and seq <= ${rolledUpto}
    ),
    stated as (
      select day, kind, account, debits, credits, quoted from rolled
      union all
      select day, kind, account, -debits, -credits, -quoted from unstated
    ),
    late as materialized (
      select seq, day, kind, account, debits, credits, value_pico_usd as quoted
      from reports.late_entries
      where mint = ${mint} and day <= ${to}::date and seq <= ${statedUpto}
    ),
    moved as (
      select case when day < ${from}::date then 'opening' else 'month' end as part, day, kind, account, debits, credits, quoted
      from stated
      union all
      select 'opening', day, kind, account, -debits, -credits, -quoted from late where day < ${from}::date and seq > ${opening}
      union all
      select 'restated', day, kind, account, debits, credits, quoted from late
      where day < ${from}::date and seq > ${opening} and seq <= ${position}
      union all
      select 'month', day, kind, account, -debits, -credits, -quoted from late where day >= ${from}::date and seq > ${position}
    ),
    -- Only movements of the month have a value: at most 31 days.
    known_prices as materialized (select * from ${statedPrices(question)} known),
    prices as materialized (
      select d.day, p.price_micro_usd, p.required
      from (select distinct day from moved where part = 'month') d
      cross join lateral (${pricedBy(mint, sql`d.day`, sql`known_prices`)}) p
    )
    select m.part, m.kind, m.account, sum(m.debits)::text as debits, sum(m.credits)::text as credits, sum(m.quoted)::text as quoted,
      coalesce(sum(${picoUsdAt('p', sql`m.debits`)}), 0)::text as day_debits,
      coalesce(sum(${picoUsdAt('p', sql`m.credits`)}), 0)::text as day_credits
    from (
      select part, day, kind, account, sum(debits) as debits, sum(credits) as credits, sum(quoted) as quoted
      from moved
      group by part, day, kind, account
    ) m
    left join prices p on p.day = m.day and m.part = 'month'
    group by m.part, m.kind, m.account`.execute(snapshot)
  return rows.map((row) => ({
    part: row.part,
    kind: row.kind,
    account: row.account,
    debitBaseUnits: BigInt(row.debits),
    creditBaseUnits: BigInt(row.credits),
    quotedPicoUsd: BigInt(row.quoted),
    debitDayPicoUsd: BigInt(row.day_debits),
    creditDayPicoUsd: BigInt(row.day_credits),
  }))
}

/** Returns a subquery for the rows of `reports.day_prices`, less the payments that no statement contains yet. */
export function statedPrices({ mint, statedUpto, rolledUpto }: LinesQuestion): RawBuilder<unknown> {
  return sql`(
    select d.mint, d.day, d.price_micro_usd - coalesce(u.price_micro_usd, 0) as price_micro_usd,
      d.required - coalesce(u.required, 0) as required
    from reports.day_prices d
    left join (
      select day, sum(price_micro_usd) as price_micro_usd, sum(required) as required
      from reports.pricing_payments
      where mint = ${mint} and seq > ${statedUpto} and seq <= ${rolledUpto}
      group by day
    ) u on u.day = d.day
    where d.mint = ${mint} and d.required > coalesce(u.required, 0))`
}

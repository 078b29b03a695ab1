import { accounts } from '../accounting/account.ts'
import { symbolOfMint } from '../payment/dollar.ts'
import { type Database, readRows } from '../store/database.ts'
import { burnedThrough } from './burnDebt.ts'

/** Burns of the service token that sales in dollars promised, in base units of that token. */
export interface PromisedBurns {
  /** Excludes reversed sales. */
  readonly promisedBaseUnits: bigint
  readonly deliveredBaseUnits: bigint
  readonly burnedBaseUnits: bigint
  /** Sales paid in each dollar token whose current price promises a burn, up to the position of the reports. */
  readonly sales: readonly DollarSales[]
}

/** Delivered sales, less reversed sales. */
export interface DollarSales {
  readonly mint: string
  /** Undefined for an unknown dollar token. */
  readonly symbol: string | undefined
  readonly decimals: number
  readonly baseUnits: bigint
  readonly microUsd: bigint
}

interface PromiseRow {
  readonly promised: string
  readonly to_deliver: string
  readonly open: string
}

/**
 * Reads the burns that sales in dollars promised. Undefined if no sale promised a burn, and the treasury delivered
 * nothing. Recent promises are read through the index of burns: those that no round has burned, and those that the
 * reports do not have yet.
 */
export async function readPromisedBurns(database: Database, mint: string): Promise<PromisedBurns | undefined> {
  const [row] = await readRows(database, 'promised burns')<PromiseRow>`
    with account as (
      select a.id, a.balance from ledger.accounts a where a.mint = ${mint} and a.name = ${accounts.tokensToDeliver}
    ),
    rolled_up as (
      -- A delivery has no endpoint, and a promise and its reversal have that of the sale.
      select sum(t.debits - t.credits) as amount
      from reports.daily_totals t
      where t.mint = ${mint} and t.day = '-infinity' and t.account = ${accounts.tokensToDeliver} and t.endpoint <> ''
    ),
    since as (
      select sum(e.amounts[1]) as amount
      from account a
      cross join reports.progress p
      join ledger.events e on e.kind = 'BurnOwed' and e.seq > p.upto_seq and e.debits[1] = a.id
    ),
    reversed as (
      -- One append records both, so the positions are next to each other.
      select sum(o.amounts[1]) as amount
      from account a
      cross join reports.progress p
      join ledger.events r on r.kind = 'PaymentReversed' and r.seq > p.upto_seq
      join ledger.events o on o.seq > r.seq and o.seq <= r.seq + 8 and o.stream = r.stream and o.kind = 'BurnOwedReversed'
        and o.credits[1] = a.id
    ),
    burned as (${burnedThrough(mint)}),
    open as (
      select sum(e.amounts[1]) as amount
      from account a
      cross join burned b
      join ledger.events e on e.kind = 'BurnOwed' and e.seq > b.through and e.debits[1] = a.id
      where not exists (
        select from ledger.events r where r.kind = 'PaymentReversed' and r.seq > b.through and r.stream = e.stream)
    )
    select (coalesce(t.amount, 0) + coalesce(s.amount, 0) - coalesce(r.amount, 0))::text as promised,
      a.balance::text as to_deliver, coalesce(o.amount, 0)::text as open
    from account a
    cross join rolled_up t cross join since s cross join reversed r cross join open o`
  if (row === undefined) return undefined
  const promisedBaseUnits = BigInt(row.promised)
  return {
    promisedBaseUnits,
    deliveredBaseUnits: promisedBaseUnits - BigInt(row.to_deliver),
    burnedBaseUnits: promisedBaseUnits - BigInt(row.open),
    sales: await readSales(database, mint),
  }
}

/** Reads the sales in the dollar tokens of the newest price list. Finding others would require reading all price lists. */
async function readSales(database: Database, token: string): Promise<readonly DollarSales[]> {
  const rows = await readRows(database, 'promised burns')<{
    mint: string
    decimals: number
    amount: string
    microUsd: string
  }>`
    with dollar as (
      select p.price ->> 'mint' as mint, (p.price ->> 'decimals')::integer as decimals
      from (
        select s.body from ledger.settings s where s.name = 'prices' order by s.number desc limit 1
      ) l
      cross join lateral jsonb_array_elements(convert_from(l.body, 'UTF8')::jsonb -> 'prices') as p (price)
      where p.price #>> '{tokenBurn,mint}' = ${token}
      group by 1, 2
    )
    select d.mint, d.decimals, coalesce(sum(t.credits - t.debits), 0)::text as amount,
      coalesce(div(-sum(t.value_pico_usd), 1000000), 0)::text as "microUsd"
    from dollar d
    left join reports.daily_totals t on t.mint = d.mint and t.day = '-infinity' and t.kind in ('payment', 'tab_request')
      and (t.account like 'Liabilities:Share:%' or t.account = ${accounts.reversedPayments})
    group by d.mint, d.decimals
    order by d.mint`
  return rows.map(({ mint, decimals, amount, microUsd }) => {
    return { mint, symbol: symbolOfMint(mint), decimals, baseUnits: BigInt(amount), microUsd: BigInt(microUsd) }
  })
}

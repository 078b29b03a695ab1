import { sql } from 'kysely'
import { assert } from '@tollbook/core/assert'
import { burnCodec } from '../payment/events.ts'
import { signatureOfStream } from '../payment/paymentReference.ts'
import { type Database, assertRow } from '../store/database.ts'

/** Burns that the service owes or has made itself. */
export interface BurnDebt {
  readonly owedBaseUnits: bigint
  /** Time of the oldest answer whose burn is owed. Undefined if nothing is owed. */
  readonly oldestOwedAtMs: number | undefined
  readonly confirmedBaseUnits: bigint
  readonly lastRound: ConfirmedRound | undefined
}

export interface ConfirmedRound {
  readonly round: number
  readonly signature: string
  readonly slot: number
  readonly burnedBaseUnits: bigint
  readonly burnedAtMs: number
}

interface DebtRow {
  readonly owed: string
  readonly oldestAt: Date | null
  readonly confirmed: string
  readonly body: Buffer | null
  readonly burnedAt: Date | null
}

/** Position up to which rounds have burned the debts in a mint. 0 before the first confirmed round. */
export const burnedThrough = (mint: string) => sql`
  select coalesce(max((convert_from(s.body, 'UTF8')::jsonb ->> 'throughPosition')::bigint), 0) as through
  from (${lastBurn(mint)}) l
  join ledger.events s on s.seq = l.stream`

const lastBurn = (mint: string) => sql`
  select e.stream, e.body, e.effective_at
  from ledger.events e
  where e.kind = 'BurnConfirmed' and convert_from(e.body, 'UTF8')::jsonb ->> 'mint' = ${mint}
  order by e.seq desc
  limit 1`

/**
 * Reads two groups of recent events through their index: debts after the last confirmed round, and burns that the
 * reports do not have yet. Earlier burns are stored as sums, so the cost does not grow with the ledger.
 */
export async function readBurnDebt(database: Database, mint: string): Promise<BurnDebt> {
  const { owed, oldestAt, confirmed, body, burnedAt } = await assertRow(database, 'owed burns')<DebtRow>`
    with last as (${lastBurn(mint)}),
    burned as (${burnedThrough(mint)}),
    oldest as (
      (
        select e.effective_at
        from ledger.events e
        where e.kind = 'BurnOwed' and e.seq > (select b.through from burned b)
          and convert_from(e.body, 'UTF8')::jsonb ->> 'mint' = ${mint}
          and not exists (select from ledger.events r where r.kind = 'PaymentReversed' and r.seq > e.seq and r.stream = e.stream)
        order by e.seq
        limit 1
      )
      union all
      (
        select e.effective_at
        from ledger.events e
        where e.kind = 'TabCaptured' and e.seq > (select b.through from burned b)
          and convert_from(e.body, 'UTF8')::jsonb ->> 'mint' = ${mint}
          and convert_from(e.body, 'UTF8')::jsonb ->> 'burnBaseUnits' <> '0'
        order by e.seq
        limit 1
      )
    ),
    rolled_up as (
      select sum(d.debits - d.credits) as amount
      from reports.daily_totals d
      where d.mint = ${mint} and d.day = '-infinity' and d.kind = 'burn' and d.account = 'Expenses:Burned'
    ),
    since as (
      select sum((convert_from(e.body, 'UTF8')::jsonb ->> 'burnedBaseUnits')::numeric) as amount
      from ledger.events e
      where e.kind = 'BurnConfirmed' and e.seq > (select p.upto_seq from reports.progress p)
        and convert_from(e.body, 'UTF8')::jsonb ->> 'mint' = ${mint}
    )
    select (coalesce((select -a.balance from ledger.accounts a where a.mint = ${mint} and a.name = 'Liabilities:BurnOwed'), 0))::text as owed,
      (select min(o.effective_at) from oldest o) as "oldestAt",
      (coalesce((select t.amount from rolled_up t), 0) + coalesce((select t.amount from since t), 0))::text as confirmed,
      (select l.body from last l) as body, (select l.effective_at from last l) as "burnedAt"`
  return {
    owedBaseUnits: BigInt(owed),
    oldestOwedAtMs: owed === '0' ? undefined : oldestAt?.getTime(),
    confirmedBaseUnits: BigInt(confirmed),
    lastRound: body === null || burnedAt === null ? undefined : roundOf(body, burnedAt),
  }
}

function roundOf(body: Buffer, burnedAt: Date): ConfirmedRound {
  const { stream, event } = burnCodec.decode(body.toString('utf8'))
  assert(event.kind === 'BurnConfirmed', 'a confirmed round is read')
  const { round, slot, burnedBaseUnits } = event
  return { round, slot, burnedBaseUnits, signature: signatureOfStream(stream), burnedAtMs: burnedAt.getTime() }
}

import { assert, assertPresent } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import { Fault } from '@tollbook/core/fault'
import type { BurnDebts } from '../payment/burn.ts'
import type { BurnLedger, BurnRounds, RecordedBurn, RecordOutcome } from '../payment/burnLedger.ts'
import { burnCodec } from '../payment/events.ts'
import type { BurnSubmitted } from '../payment/events/burnEvents.ts'
import { readReference, signatureOf, transactionReference } from '../payment/paymentReference.ts'
import { accounts } from '../accounting/account.ts'
import { type Database, readRows } from './database.ts'
import { textOf } from './paymentItem.ts'
import { recordBody } from './recordBody.ts'

/** `database` must log in as a member of `tollbook_burner`, because the ledger refuses burns from other logins. */
export function createBurnLedger(database: Database): BurnLedger {
  return {
    readRounds: (mint) => readRounds(database, mint),
    readDebts: (mint, after) => readDebts(database, mint, after),
    record: (burn) => record(database, burn),
  }
}

interface RoundRow {
  readonly which: 'last' | 'burned'
  readonly body: Buffer
  readonly has_ended: boolean
}

/** The index `events_of_burns` serves every subquery, so none of them scans the ledger. */
async function readRounds(database: Database, mint: Address): Promise<BurnRounds> {
  const rows = await readRows(database, 'the rounds of burning')<RoundRow>`
    with last as (
      select e.seq, e.body
      from ledger.events e
      where e.kind = 'BurnSubmitted' and convert_from(e.body, 'UTF8')::jsonb ->> 'mint' = ${mint}
      order by e.seq desc
      limit 1
    ),
    confirmed as (
      select e.stream
      from ledger.events e
      where e.kind = 'BurnConfirmed' and convert_from(e.body, 'UTF8')::jsonb ->> 'mint' = ${mint}
      order by e.seq desc
      limit 1
    )
    select 'last' as which, l.body, exists (
      select from ledger.events e
      where e.kind in ('BurnConfirmed', 'BurnFailed') and e.seq > l.seq and e.stream = l.seq
    ) as has_ended
    from last l
    union all
    select 'burned', e.body, true from confirmed c join ledger.events e on e.seq = c.stream`
  const read = (row: RoundRow | undefined) => (row === undefined ? undefined : readSubmitted(row.body))
  const lastRow = rows.find(({ which }) => which === 'last')
  const last = read(lastRow)
  return {
    lastRound: last?.round ?? 0,
    open: lastRow?.has_ended === false ? last : undefined,
    burnedThroughPosition: read(rows.find(({ which }) => which === 'burned'))?.throughPosition ?? 0,
  }
}

function readSubmitted(body: Buffer) {
  const { stream, event } = burnCodec.decode(textOf(body))
  assert(event.kind === 'BurnSubmitted', 'a burn begins as submitted')
  const reference = assertPresent(readReference(stream), 'the stream of a burn is a reference')
  return { ...burnOf(event), signature: assertPresent(signatureOf(reference), 'a burn is a Solana transaction') }
}

function burnOf({ kind: _kind, burnBaseUnits: _burnBaseUnits, ...burn }: BurnSubmitted) {
  return burn
}

interface DebtRow {
  readonly through: number
  readonly endpoint: string | null
  readonly owed: string | null
}

/**
 * Reads the debts up to the position before the first event of a payment that the chain could still drop, because a
 * burn is irreversible. The list of open work shows which payments are final. Debts in events that this list does not
 * cover yet wait for the next round.
 *
 * A debt has the position of its `BurnOwed` or `TabCaptured`, which is later than the first event of its payment. No
 * debt is skipped: all events up to the end are committed, so a debt that is recorded afterwards has a later position.
 * No debt is burned before its payment is final: the end is before the first event of each payment that is not final.
 *
 * Tokens in the payment wallet belong to others until the treasury delivers. Deliveries cover the oldest sales in
 * dollars first. So the end is also before the first sale in dollars whose tokens have not all arrived.
 */
async function readDebts(database: Database, mint: Address, afterPosition: number): Promise<BurnDebts> {
  assert(afterPosition >= 0, 'positions are counted from 1')
  const rows = await readRows(database, 'the owed burns')<DebtRow>`
    with final as materialized (
      select least(p.upto_seq, (select min(o.stream) - 1 from work.open o where o.queue = 'finality')) as through
      from work.progress p
    ),
    debt as materialized (
      select e.seq, said ->> 'endpoint' as endpoint, (said ->> 'owedBaseUnits')::numeric as amount, said ->> 'source' as source
      from ledger.events e
      cross join lateral (select convert_from(e.body, 'UTF8')::jsonb as said) body
      where e.kind = 'BurnOwed' and e.seq > ${afterPosition} and said ->> 'mint' = ${mint}
        and not exists (
          select from ledger.events r where r.kind = 'PaymentReversed' and r.seq > ${afterPosition} and r.stream = e.stream
        )
      union all
      select e.seq, d.endpoint, (said ->> 'burnBaseUnits')::numeric, null
      from ledger.events e
      cross join lateral (select convert_from(e.body, 'UTF8')::jsonb as said) body
      cross join lateral (
        select convert_from(d.body, 'UTF8')::jsonb #>> '{price,endpoint}' as endpoint
        from ledger.events d where d.seq = e.stream offset 0
      ) d
      where e.kind = 'TabCaptured' and e.seq > ${afterPosition} and said ->> 'mint' = ${mint} and said ->> 'burnBaseUnits' <> '0'
    ),
    undelivered as (
      select min(d.seq) as seq
      from (
        select t.seq, sum(t.amount) over (order by t.seq desc) - t.amount as newer from debt t where t.source = 'treasury'
      ) d
      where d.newer < (
        select a.balance from ledger.accounts a where a.mint = ${mint} and a.name = ${accounts.tokensToDeliver})
    ),
    burnable as materialized (
      select least(f.through, u.seq - 1) as through from final f cross join undelivered u
    )
    select f.through, o.endpoint, sum(o.amount)::text as owed
    from burnable f
    left join debt o on o.seq <= f.through
    group by f.through, o.endpoint
    order by o.endpoint`
  return {
    throughPosition: assertPresent(rows[0], 'the open work has a position').through,
    parts: rows.flatMap(({ endpoint, owed }) =>
      endpoint === null || owed === null ? [] : [{ endpoint, baseUnits: BigInt(owed) }],
    ),
  }
}

/** Refusals which mean that another job recorded its burn first. */
const overtaking: ReadonlySet<string> = new Set(['key_used', 'round_open', 'conflict'])

async function record(database: Database, { signature, event, effectiveAtMs }: RecordedBurn): Promise<RecordOutcome> {
  const version = event.kind === 'BurnSubmitted' ? 1 : 2
  const body = burnCodec.encode(event, { stream: transactionReference(signature), version, effectiveAtMs })
  const recording = {
    call: 'record_burn',
    role: 'tollbook_burner',
    whenLost: 'the next run reads what it has',
  } as const
  const { refusal } = await recordBody(database, { ...recording, bodies: [body] })
  if (refusal === undefined) return 'recorded'
  if (overtaking.has(refusal)) return 'overtaken'
  throw new Fault(`the ledger refused ${event.kind} of round ${event.round} as ${refusal}`, { retryable: false })
}

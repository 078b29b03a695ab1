import { sql } from 'kysely'
import type { Database } from '../../store/database.ts'
import { assert, assertPresent } from '@tollbook/core/assert'
import { prepaidOn } from '../../accounting/account.ts'
import { paymentCodec } from '../../payment/events.ts'
import type { Settlement } from '../../payment/settlement.ts'
import { chargedBy, owingBurn, settlementOfDebit } from '../../payment/tabSettlement.ts'
import { picoUsdAt, pricedBy } from '../dayPrice.ts'
import type { ExportScope } from './exportScope.ts'

/*
 * Rows of an export, one page of positions at a time. Memory does not depend on the length of the ledger, and each page
 * is read along the primary key.
 */

// Positions per page. A body has at most 65,519 bytes, so a page has at most 17 MB.
const pagePositions = 256

export interface EventRow {
  readonly position: number
  readonly recordedAtMs: number
  readonly effectiveAtMs: number
  readonly stream: string
  readonly version: number
  readonly kind: string
  readonly body: string
  readonly leafHash: Uint8Array
}

export interface EntryRow {
  readonly position: number
  readonly line: number
  readonly recordedAtMs: number
  readonly effectiveAtMs: number
  readonly kind: string
  /** Reference of the payment, payout or burn, for example `solana:<signature>`, or of the tab. */
  readonly stream: string
  readonly account: string
  readonly mint: string
  /** Debits are positive, credits negative. */
  readonly amountBaseUnits: bigint
  /**
   * Value in 10^-12 dollars, at the quoted price of the payment. Undefined without a quoted price, or if the reports
   * have not reached the end of the export.
   */
  readonly quotedPicoUsd: bigint | undefined
  /**
   * Value in 10^-12 dollars at the price of the day. Undefined before the first price, or if the reports have not
   * reached the end of the export.
   */
  readonly dayPicoUsd: bigint | undefined
}

/** A verified payment, or a debit of a tab, with its state at the end of the export's range. */
export interface PaymentRow {
  readonly position: number
  readonly recordedAtMs: number
  readonly settlement: Settlement
  readonly state:
    | 'verified'
    | 'claimed'
    | 'streaming'
    | 'released'
    | 'fulfilled'
    | 'exhausted'
    | 'refund_due'
    | 'reversed'
    | 'unmatched'
  readonly attempts: number
  readonly fulfilledPosition: number | undefined
  readonly fulfilledAtMs: number | undefined
  readonly isBurnOwed: boolean
  /** Base units that were deposited on a tab. Negative: base units that were taken from the tab. */
  readonly prepaidBaseUnits: bigint
}

export interface Chunk {
  readonly chunk: string | Uint8Array
  readonly upto: number
}

export interface Page<T> {
  readonly rows: readonly T[]
  readonly upto: number
}

async function* pages<T>(
  { fromPosition, toPosition }: ExportScope,
  read: (after: number, upto: number) => Promise<readonly T[]>,
): AsyncGenerator<Page<T>> {
  for (let after = fromPosition - 1; after < toPosition; after += pagePositions) {
    const upto = Math.min(after + pagePositions, toPosition)
    yield { rows: await read(after, upto), upto }
  }
}

interface EventColumns {
  readonly seq: number
  readonly recorded_at: Date
  readonly effective_at: Date
  readonly stream: string
  readonly kind: string
}

interface EntryColumns {
  readonly line: number
  readonly account: string
  readonly mint: string
  readonly amount: string
  readonly quoted: string | null
  readonly day_value: string | null
}

export function eventPages(snapshot: Database, scope: ExportScope): AsyncGenerator<Page<EventRow>> {
  return pages(scope, async (after, upto) => {
    const { rows } = await sql<EventColumns & { version: number; body: Buffer; leaf_hash: Buffer }>`
      select seq, recorded_at, effective_at, convert_from(body, 'UTF8')::jsonb ->> 'stream' as stream, version, kind, body,
        leaf_hash
      from ledger.events
      where seq > ${after} and seq <= ${upto}
      order by seq`.execute(snapshot)
    return rows.map((row) => ({
      ...headerOf(row),
      version: row.version,
      body: row.body.toString('utf8'),
      leafHash: row.leaf_hash,
    }))
  })
}

/** Reads the entries. Excludes Memo accounts, because they do not contain money. */
export function entryPages(snapshot: Database, scope: ExportScope): AsyncGenerator<Page<EntryRow>> {
  return pages(scope, async (after, upto) => {
    const { rows } = await sql<EventColumns & EntryColumns>`
      select e.seq, e.recorded_at, e.effective_at, e.stream, e.kind, t.line, t.account, t.mint, t.amount,
        div(t.amount * q.price_micro_usd * 1000000, q.required)::text as quoted, ${picoUsdAt('p', sql`t.amount`)}::text as day_value
      from (
        select seq, recorded_at, effective_at, kind, convert_from(body, 'UTF8')::jsonb ->> 'stream' as stream,
          stream as first_seq
        from ledger.events
        where seq > ${after} and seq <= ${upto} and amounts is not null
        offset 0
      ) e
      join ledger.entries t on t.seq = e.seq
      left join reports.payments q on q.stream = e.first_seq and q.mint = t.mint and q.required > 0 and ${scope.isValued}
      left join lateral (${pricedBy(sql`t.mint`, sql`(e.effective_at at time zone 'UTC')::date`)}) p on ${scope.isValued}
      where t.seq > ${after} and t.seq <= ${upto} and t.account not like 'Memo:%'
      order by e.seq, t.line`.execute(snapshot)
    return rows.map((row) => ({
      ...headerOf(row),
      line: row.line,
      account: row.account,
      mint: row.mint,
      amountBaseUnits: BigInt(row.amount),
      quotedPicoUsd: row.quoted === null ? undefined : BigInt(row.quoted),
      dayPicoUsd: row.day_value === null ? undefined : BigInt(row.day_value),
    }))
  })
}

function headerOf(row: EventColumns) {
  return {
    position: row.seq,
    recordedAtMs: row.recorded_at.getTime(),
    effectiveAtMs: row.effective_at.getTime(),
    stream: row.stream,
    kind: row.kind,
  }
}

/** Reads the payments, ordered by verification or first debit, each with its lifecycle up to the end of the range. */
export function paymentPages(snapshot: Database, scope: ExportScope): AsyncGenerator<Page<PaymentRow>> {
  return pages(scope, async (after, upto) => {
    const { rows } = await sql<{ seq: number; recorded_at: Date; stream: number; body: Buffer }>`
      select seq, recorded_at, stream, body
      from ledger.events
      where seq > ${after} and seq <= ${upto} and (kind = 'PaymentVerified'
        or kind = 'TabDebited' and convert_from(body, 'UTF8')::jsonb ->> 'attempt' = '1')
      order by seq`.execute(snapshot)
    const lifecycles = await lifecyclesUpTo(
      snapshot,
      rows.map(({ stream }) => stream),
      scope.toPosition,
    )
    return rows.map((row) => {
      const lifecycle = assertPresent(lifecycles.get(row.stream), 'a payment has its own verification')
      return {
        position: row.seq,
        recordedAtMs: row.recorded_at.getTime(),
        ...outcomeOf(lifecycle),
        ...paidOf(row.body, lifecycle),
      }
    })
  })
}

type Paid = Pick<PaymentRow, 'settlement' | 'prepaidBaseUnits'>

/**
 * Returns the amounts of a payment. A sale on a tab has the time of its debit and the price that was charged. It
 * receives nothing, because the deposit was received earlier.
 */
function paidOf(body: Buffer, lifecycle: readonly LifecycleEvent[]): Paid {
  const { event, effectiveAtMs: blockTimeMs } = paymentCodec.decode(body.toString('utf8'))
  const bodies = lifecycle.flatMap((each) => each.body ?? [])
  const events = bodies.map((each) => paymentCodec.decode(each.toString('utf8')).event)
  const prepaidBaseUnits = events
    .flatMap((each) => paymentCodec.postingsOf(each))
    .reduce((sum, { debit, credit, amountBaseUnits }) => {
      if (isPrepaid(credit)) return sum + amountBaseUnits
      return isPrepaid(debit) ? sum - amountBaseUnits : sum
    }, 0n)
  if (event.kind === 'PaymentVerified') return { settlement: event.settlement, prepaidBaseUnits }
  assert(event.kind === 'TabDebited', 'the column names the kind of the body')
  const settlement = events.reduce<Settlement>((charged, each) => {
    // An attempt after a failed one holds the price of its own time.
    if (each.kind === 'TabDebited') return settlementOfDebit(each)
    if (each.kind === 'TabCaptured') return chargedBy(charged, each)
    return each.kind === 'BurnOwed' ? owingBurn(charged, each) : charged
  }, settlementOfDebit(event))
  const evidence = { ...settlement.evidence, blockTimeMs }
  return { settlement: { ...settlement, receivedBaseUnits: 0n, evidence }, prepaidBaseUnits }
}

function isPrepaid(account: string): boolean {
  return account.startsWith(prepaidOn(''))
}

interface LifecycleEvent {
  readonly seq: number
  readonly kind: string
  readonly recordedAtMs: number
  /** Null for events that neither change the prepaid amount nor state a charge. */
  readonly body: Buffer | null
}

const tabKinds = ['TabOpened', 'TabToppedUp', 'DepositReversed', 'TabDebited', 'TabCaptured', 'TabReturned']

async function lifecyclesUpTo(
  snapshot: Database,
  streams: readonly number[],
  position: number,
): Promise<ReadonlyMap<number, readonly LifecycleEvent[]>> {
  const { rows } = await sql<{ stream: number; seq: number; kind: string; recorded_at: Date; body: Buffer | null }>`
    select s.stream, e.seq, e.kind, e.recorded_at, case when e.kind = any(${tabKinds}::text[])
      or s.kind = 'tab_request' and e.kind = 'BurnOwed' then e.body end as body
    from ledger.read_many(array(select id from ledger.streams where stream = any (${streams}::bigint[]))) e
    join ledger.streams s on s.id = e.id
    where e.seq <= ${position}
    order by e.seq`.execute(snapshot)
  const events = rows.map(({ recorded_at: recordedAt, ...row }) => ({ ...row, recordedAtMs: recordedAt.getTime() }))
  return Map.groupBy(events, ({ stream }) => stream)
}

const states: Readonly<Record<string, PaymentRow['state']>> = {
  ProofClaimed: 'claimed',
  TabDebited: 'claimed',
  AnswerStarted: 'streaming',
  AnswerBroken: 'released',
  RequestFailed: 'released',
  RequestFulfilled: 'fulfilled',
  TabCaptured: 'fulfilled',
  AttemptsExhausted: 'exhausted',
  RefundDue: 'refund_due',
  PaymentReversed: 'reversed',
  TransferReceived: 'unmatched',
}

/**
 * Derives the state from the events, because an export may end before the head and ledger.streams has only the state at
 * the head.
 */
function outcomeOf(lifecycle: readonly LifecycleEvent[]) {
  const fulfilled = lifecycle.find(({ kind }) => kind === 'RequestFulfilled' || kind === 'TabCaptured')
  return {
    state: lifecycle.flatMap(({ kind }) => states[kind] ?? []).at(-1) ?? ('verified' as const),
    attempts: lifecycle.filter(({ kind }) => kind === 'ProofClaimed' || kind === 'TabDebited').length,
    fulfilledPosition: fulfilled?.seq,
    fulfilledAtMs: fulfilled?.recordedAtMs,
    isBurnOwed: lifecycle.some(({ kind }) => kind === 'BurnOwed' || kind === 'TabCaptured'),
  }
}

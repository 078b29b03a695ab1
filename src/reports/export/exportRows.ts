import { sql } from 'kysely'
import { decodeEvent } from '../../payment/eventCodec.ts'
import type { Settlement } from '../../payment/settlement.ts'
import { type Signature, signatureBytes } from '@tollbook/core/signature'
import { assert, assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import type { ExportScope } from './exportScope.ts'
import type { Snapshot } from './snapshot.ts'

/*
 * The rows of an export, a page of positions at a time: memory does not depend on how long the book is, and a page is a
 * walk along the primary key.
 */

// A body has at most 65,519 bytes, so a page of them is at most 17 MB and usually a quarter of one.
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
  /** The signature of the payment. */
  readonly stream: string
  readonly account: string
  readonly mint: string
  /** Debits are positive. */
  readonly amountBaseUnits: bigint
}

/** A verified payment as it stands at the end of the export's range. */
export interface PaymentRow {
  readonly position: number
  readonly recordedAtMs: number
  readonly settlement: Settlement
  readonly state: 'verified' | 'claimed' | 'released' | 'fulfilled' | 'refund_due' | 'reversed' | 'unmatched'
  readonly attempts: number
  readonly fulfilledPosition: number | undefined
  readonly fulfilledAtMs: number | undefined
}

/** Rows of one page, and the position up to which they go. */
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

export function eventPages(snapshot: Snapshot, scope: ExportScope): AsyncGenerator<Page<EventRow>> {
  return pages(scope, async (after, upto) => {
    const rows = await snapshot
      .selectFrom('ledger.events')
      .selectAll()
      .where('seq', '>', after)
      .where('seq', '<=', upto)
      .orderBy('seq')
      .execute()
    return rows.map((row) => ({
      position: row.seq,
      recordedAtMs: row.recorded_at.getTime(),
      effectiveAtMs: row.effective_at.getTime(),
      stream: row.stream,
      version: row.version,
      kind: row.kind,
      body: row.body.toString('utf8'),
      leafHash: row.leaf_hash,
    }))
  })
}

export function entryPages(snapshot: Snapshot, scope: ExportScope): AsyncGenerator<Page<EntryRow>> {
  return pages(scope, async (after, upto) => {
    const rows = await snapshot
      .selectFrom('ledger.entries as entry')
      .innerJoin('ledger.events as event', 'event.seq', 'entry.seq')
      .select(['entry.seq', 'line', 'recorded_at', 'effective_at', 'kind', 'stream', 'account', 'mint', 'amount'])
      .where('entry.seq', '>', after)
      .where('entry.seq', '<=', upto)
      .where('event.seq', '>', after)
      .where('event.seq', '<=', upto)
      .orderBy('entry.seq')
      .orderBy('line')
      .execute()
    return rows.map((row) => ({
      position: row.seq,
      line: row.line,
      recordedAtMs: row.recorded_at.getTime(),
      effectiveAtMs: row.effective_at.getTime(),
      kind: row.kind,
      stream: row.stream,
      account: row.account,
      mint: row.mint,
      amountBaseUnits: BigInt(row.amount),
    }))
  })
}

export function paymentPages(snapshot: Snapshot, scope: ExportScope): AsyncGenerator<Page<PaymentRow>> {
  return pages(scope, async (after, upto) => {
    const verified = await snapshot
      .selectFrom('ledger.events')
      .select(['seq', 'recorded_at', 'stream', 'body'])
      .where('seq', '>', after)
      .where('seq', '<=', upto)
      .where('kind', '=', 'PaymentVerified')
      .orderBy('seq')
      .execute()
    const settlements = verified.map((row) => settlementOf(row.body))
    const lives = await livesUpTo(
      snapshot,
      settlements.map(({ signature }) => signature),
      scope.toPosition,
    )
    return verified.map((row, index) => ({
      position: row.seq,
      recordedAtMs: row.recorded_at.getTime(),
      settlement: assertPresent(settlements[index], 'each verified payment has a settlement'),
      ...outcomeOf(lives.get(row.stream) ?? []),
    }))
  })
}

function settlementOf(body: Buffer): Settlement {
  const { event } = decodeEvent(body.toString('utf8'))
  assert(event.kind === 'PaymentVerified', 'the column names the kind of the body')
  return event.settlement
}

interface LifeEvent {
  readonly seq: number
  readonly kind: string
  readonly recordedAtMs: number
}

/** What happened to payments up to the end of the export, and not later. */
async function livesUpTo(
  snapshot: Snapshot,
  signatures: readonly Signature[],
  position: number,
): Promise<ReadonlyMap<string, readonly LifeEvent[]>> {
  const keys = signatures.map((signature) => Buffer.from(signatureBytes(signature)))
  const { rows } = await sql<{ signature: Buffer; seq: number; kind: string; recorded_at: Date }>`
    select p.signature, v.seq, v.kind, v.recorded_at
    from ledger.payments p
    cross join lateral unnest(p.seqs) as own (seq)
    join ledger.events v on v.seq = own.seq
    where p.signature = any (${keys}::bytea[]) and own.seq <= ${position}
    order by v.seq`.execute(snapshot)
  const lives = new Map<string, LifeEvent[]>()
  for (const { signature, seq, kind, recorded_at: recordedAt } of rows) {
    const stream = encodeBase58(signature)
    const life = lives.get(stream) ?? []
    lives.set(stream, life)
    life.push({ seq, kind, recordedAtMs: recordedAt.getTime() })
  }
  return lives
}

const states: Readonly<Record<string, PaymentRow['state']>> = {
  ProofClaimed: 'claimed',
  RequestFailed: 'released',
  RequestFulfilled: 'fulfilled',
  RefundDue: 'refund_due',
  PaymentReversed: 'reversed',
  TransferReceived: 'unmatched',
}

function outcomeOf(life: readonly LifeEvent[]) {
  const fulfilled = life.find(({ kind }) => kind === 'RequestFulfilled')
  const turns = life.flatMap(({ kind }) => states[kind] ?? [])
  return {
    state: turns.at(-1) ?? ('verified' as const),
    attempts: life.filter(({ kind }) => kind === 'ProofClaimed').length,
    fulfilledPosition: fulfilled?.seq,
    fulfilledAtMs: fulfilled?.recordedAtMs,
  }
}

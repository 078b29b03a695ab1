import { sql } from 'kysely'
import { assert, assertPresent, Bug } from '../primitives/assert.ts'
import type { Clock } from '../primitives/clock.ts'
import { describeError, Fault } from '../primitives/fault.ts'
import type { Log } from '../primitives/log.ts'
import type { Leaf } from '../payment/paymentLedger.ts'
import { signatureBytes } from '../payment/signature.ts'
import { type AppendItem, appendArguments, priceStream } from './appendBatch.ts'
import { type BatchQueue, createBatchQueue } from './batchQueue.ts'
import { type Database, isDefiniteFailure } from './database.ts'

export type Appended =
  | { readonly outcome: 'appended'; readonly recordedAtMs: number; readonly leaves: readonly Leaf[] }
  | { readonly outcome: 'conflict' }
  | { readonly outcome: 'idempotency_key_reused' }

export interface EventStoreDeps {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  /** For how long a lost answer is looked for before the caller is told that we do not know. */
  readonly outcomeTimeoutMs: number
  /** Told of each flush, for the metrics. */
  readonly onFlush?: (flush: { readonly items: number; readonly durationMs: number }) => void
}

// 64 claims are about 100 kB of JSON and 200 rows; larger batches gained nothing in `npm run bench -- claims`.
const batchMax = 64
const flushesMax = 2
const waitingMax = 10_000
const retryDelayMs = 100

export type EventStore = BatchQueue<AppendItem, Appended>

export function createEventStore(deps: EventStoreDeps): EventStore {
  return createBatchQueue({
    batchMax,
    flushesMax,
    waitingMax,
    keyOf: (item) => item.stream,
    flush: (batch) => flush(deps, batch),
  })
}

/**
 * Appends a batch and does not come back before its outcome is certain, or the time for that is over. An append whose
 * answer was lost is sent again with the same bytes: if it had been committed, the version has moved on, and the
 * bodies found there are ours.
 */
async function flush(deps: EventStoreDeps, batch: readonly AppendItem[]): Promise<readonly Appended[]> {
  const startedAtMs = deps.clock.monotonicMs()
  let inDoubt = false
  for (;;) {
    try {
      const rows = await callAppend(deps.database, batch)
      const outcomes = inDoubt ? await recogniseOwn(deps.database, batch, rows) : rows
      deps.onFlush?.({ items: batch.length, durationMs: deps.clock.monotonicMs() - startedAtMs })
      return outcomes
    } catch (error) {
      if (error instanceof Bug) throw error
      if (isDefiniteFailure(error)) return appendOneByOne(deps, batch, error)
      deps.log.warn({ event: 'append_outcome_unknown', items: batch.length, error: describeError(error) })
      if (deps.clock.monotonicMs() - startedAtMs > deps.outcomeTimeoutMs) {
        throw new Fault('the ledger did not say whether it took the append', { cause: error, retryable: true })
      }
      inDoubt = true
      await deps.clock.sleep(retryDelayMs)
    }
  }
}

/** The server refused the whole batch because of one item; the others must not suffer for it. */
async function appendOneByOne(
  deps: EventStoreDeps,
  batch: readonly AppendItem[],
  error: unknown,
): Promise<readonly Appended[]> {
  const [only, another] = batch
  if (another === undefined)
    throw new Fault(`the ledger refused an append to ${only?.stream}`, { cause: error, retryable: false })
  const outcomes: Appended[] = []
  const refused: unknown[] = []
  for (const item of batch) {
    try {
      outcomes.push(...(await flush(deps, [item])))
    } catch (itemError) {
      // Reported as a conflict, so its caller looks again and gets its own error; its neighbours keep their outcomes.
      refused.push(itemError)
      outcomes.push({ outcome: 'conflict' })
    }
  }
  deps.log.error({ event: 'append_batch_split', items: batch.length, refused: refused.map(describeError) })
  return outcomes
}

interface AppendRow {
  readonly n: number
  readonly refusal: string | null
  readonly recorded_at: Date
  readonly positions: number[] | null
  readonly leaf_hashes: Buffer[] | null
}

async function callAppend(database: Database, batch: readonly AppendItem[]): Promise<readonly Appended[]> {
  const { batch: json, bodies } = appendArguments(batch)
  const { rows } = await sql<AppendRow>`select * from ledger.append(${json}::jsonb, ${bodies}::bytea)`.execute(database)
  const byItem = new Map(rows.map((row) => [row.n, row]))
  return batch.map((item, n) => appendedOf(assertPresent(byItem.get(n), 'the append answers each item'), item))
}

function appendedOf(row: AppendRow, item: AppendItem): Appended {
  assert(row.refusal !== 'unbalanced', `the entries of ${item.stream} sum to zero per event and mint`)
  if (row.refusal === 'idempotency_key_reused') return { outcome: 'idempotency_key_reused' }
  if (row.refusal !== null) return { outcome: 'conflict' }
  const hashes = assertPresent(row.leaf_hashes, 'an append returns its leaf hashes')
  const leaves = assertPresent(row.positions, 'an append returns its positions').map((position, k): Leaf => {
    return { position, leafHash: assertPresent(hashes[k], 'each position has a leaf hash').toString('hex') }
  })
  return { outcome: 'appended', recordedAtMs: row.recorded_at.getTime(), leaves }
}

/** Of the items that conflict now, those whose bodies stand in the ledger were taken by the append whose answer was lost. */
async function recogniseOwn(
  database: Database,
  batch: readonly AppendItem[],
  rows: readonly Appended[],
): Promise<readonly Appended[]> {
  const outcomes: Appended[] = []
  for (const [index, item] of batch.entries()) {
    const row = assertPresent(rows[index], 'the append answers each item')
    outcomes.push(row.outcome === 'appended' ? row : ((await findOwn(database, item)) ?? row))
  }
  return outcomes
}

async function findOwn(database: Database, item: AppendItem): Promise<Appended | undefined> {
  const found = await database
    .selectFrom('ledger.events')
    .select(['seq', 'version', 'recorded_at', 'body', 'leaf_hash'])
    .where('stream', '=', item.stream)
    .where('seq', 'in', positionsOf(database, item))
    .where('version', '>', item.expectedVersion)
    .where('version', '<=', item.expectedVersion + item.bodies.length)
    .orderBy('version')
    .execute()
  const [first] = found
  const same = found.length === item.bodies.length && found.every((row, k) => item.bodies[k]?.body.equals(row.body))
  if (first === undefined || !same) return undefined
  const leaves = found.map((row): Leaf => ({ position: row.seq, leafHash: row.leaf_hash.toString('hex') }))
  return { outcome: 'appended', recordedAtMs: first.recorded_at.getTime(), leaves }
}

function positionsOf(database: Database, item: AppendItem) {
  if (item.signature === undefined) {
    assert(item.stream === priceStream, 'a stream is a payment or the price lists')
    return database
      .selectFrom('ledger.price_lists')
      .select('seq')
      .where('version', '=', item.expectedVersion + 1)
  }
  const { signature } = item
  return database
    .selectFrom('ledger.payments')
    .select(sql<number>`unnest(seqs)`.as('seq'))
    .where(sql<boolean>`signature = decode(${Buffer.from(signatureBytes(signature)).toString('hex')}, 'hex')`)
}

import { CompiledQuery, sql } from 'kysely'
import { assert, assertPresent, Bug } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { describeError, Fault } from '@tollbook/core/fault'
import type { Log } from '../primitives/log.ts'
import type { Leaf } from '../payment/paymentLedger.ts'
import { signatureBytes } from '@tollbook/core/signature'
import { type AppendItem, appendCall, appendValues, priceStream } from './appendBatch.ts'
import { type BatchQueue, createBatchQueue } from './batchQueue.ts'
import { type Database, judgeWriteFailure } from './database.ts'

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

// 64 claims are about 200 kB and 500 rows. A batch of 32 takes 2.4 ms of the server's processor, of which 0.5 ms are the
// same for a batch of one; beyond 64 there is little left to share.
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

/** One item's outcome, or why it alone failed. */
type Settled = PromiseSettledResult<Appended>

/**
 * Appends a batch and does not come back before its outcome is certain, or the time for that is over. An append whose
 * answer was lost is sent again with the same bytes: if it had been committed, the version has moved on, and the
 * bodies found there are ours.
 */
async function flush(deps: EventStoreDeps, batch: readonly AppendItem[]): Promise<readonly Settled[]> {
  const startedAtMs = deps.clock.monotonicMs()
  const outcomes = await settleBatch(deps, batch, { deadlineMs: startedAtMs + deps.outcomeTimeoutMs, inDoubt: false })
  deps.onFlush?.({ items: batch.length, durationMs: deps.clock.monotonicMs() - startedAtMs })
  return outcomes
}

interface Doubt {
  readonly deadlineMs: number
  /** An earlier call may have committed these items. */
  readonly inDoubt: boolean
}

async function settleBatch(
  deps: EventStoreDeps,
  batch: readonly AppendItem[],
  doubt: Doubt,
): Promise<readonly Settled[]> {
  let { inDoubt } = doubt
  for (;;) {
    try {
      const outcomes = await callAppend(deps.database, batch)
      return inDoubt ? await recogniseOwn(deps.database, batch, outcomes) : outcomes
    } catch (error) {
      if (error instanceof Bug) throw error
      const failure = judgeWriteFailure(error)
      if (failure === 'refused') return appendOneByOne(deps, batch, { ...doubt, inDoubt, error })
      inDoubt ||= failure === 'unknown'
      deps.log.warn({ event: 'append_failed', failure, items: batch.length, error: describeError(error) })
      if (deps.clock.monotonicMs() >= doubt.deadlineMs) {
        throw new Fault(inDoubt ? outcomeUnknown : 'the ledger takes no appends', { cause: error, retryable: true })
      }
      await deps.clock.sleep(retryDelayMs)
    }
  }
}

const outcomeUnknown = 'the ledger did not say whether it took the append'

/** The server refused the whole batch because of one item; the others must not suffer for it. */
async function appendOneByOne(
  deps: EventStoreDeps,
  batch: readonly AppendItem[],
  { error, ...doubt }: Doubt & { readonly error: unknown },
): Promise<readonly Settled[]> {
  const [only, another] = batch
  if (another === undefined) {
    throw new Fault(`the ledger refused an append to ${only?.stream}`, { cause: error, retryable: false })
  }
  const outcomes: Settled[] = []
  for (const item of batch) outcomes.push(...(await Promise.allSettled([settleOne(deps, item, doubt)])))
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? describeError(outcome.reason) : []))
  deps.log.error({ event: 'append_batch_split', items: batch.length, refused })
  return outcomes
}

async function settleOne(deps: EventStoreDeps, item: AppendItem, doubt: Doubt): Promise<Appended> {
  const [outcome] = await settleBatch(deps, [item], doubt)
  if (outcome?.status === 'rejected') throw outcome.reason
  return assertPresent(outcome, 'the append answers each item').value
}

interface AppendRow {
  readonly n: number
  readonly refusal: string | null
  readonly recorded_at: Date
  readonly first_position: number | null
  readonly leaf_hashes: Buffer | null
}

async function callAppend(database: Database, batch: readonly AppendItem[]): Promise<readonly Settled[]> {
  const { rows } = await database.executeQuery<AppendRow>(CompiledQuery.raw(appendCall, [...appendValues(batch)]))
  const byItem = new Map(rows.map((row) => [row.n, row]))
  return batch.map((item, index) =>
    settledOf(assertPresent(byItem.get(index + 1), 'the append answers each item'), item),
  )
}

function settledOf(row: AppendRow, item: AppendItem): Settled {
  switch (row.refusal) {
    case null:
      return { status: 'fulfilled', value: appendedOf(row) }
    case 'conflict':
    case 'idempotency_key_reused':
      return { status: 'fulfilled', value: { outcome: row.refusal } }
    default:
      return { status: 'rejected', reason: new Bug(`expected that ${item.stream} is not refused as ${row.refusal}`) }
  }
}

function appendedOf({ recorded_at: recordedAt, first_position: first, leaf_hashes: hashes }: AppendRow): Appended {
  const firstPosition = assertPresent(first, 'an append returns its first position')
  const hex = assertPresent(hashes, 'an append returns its leaf hashes').toString('hex')
  const leafHashes = hex.match(leafInHex) ?? []
  const leaves = leafHashes.map((leafHash, k): Leaf => ({ position: firstPosition + k, leafHash }))
  return { outcome: 'appended', recordedAtMs: recordedAt.getTime(), leaves }
}

const leafInHex = /.{64}/g

/** Of the items that conflict now, those whose bodies stand in the ledger were taken by the append whose answer was lost. */
async function recogniseOwn(
  database: Database,
  batch: readonly AppendItem[],
  found: readonly Settled[],
): Promise<readonly Settled[]> {
  const outcomes: Settled[] = []
  for (const [index, item] of batch.entries()) {
    const outcome = assertPresent(found[index], 'the append answers each item')
    const isConflict = outcome.status === 'fulfilled' && outcome.value.outcome === 'conflict'
    const own = isConflict ? await findOwn(database, item) : undefined
    outcomes.push(own === undefined ? outcome : { status: 'fulfilled', value: own })
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

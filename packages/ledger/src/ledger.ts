import { assert, assertPresent, Bug } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { describeError, Fault } from '@tollbook/core/fault'
import { appendBatch } from './appendBatch.ts'
import { createBatchQueue } from './batchQueue.ts'
import { judgeWriteFailure, type LedgerLog, type QueryRunner } from './database.ts'
import { isOtherHistory, type LedgerHistory, observeAppended } from './history.ts'
import type { Appended, AppendResult, Item, Leaf } from './item.ts'
import type { LedgerKernel } from './port.ts'
import { readEvents, readManyEvents, streamKey } from './readEvents.ts'
import { createReadQueue } from './readQueue.ts'

export interface LedgerDeps {
  readonly pool: QueryRunner
  readonly clock: Clock
  readonly log: LedgerLog
  /**
   * Time limit in milliseconds for learning the outcome of an append whose answer was lost. After this time, the caller
   * gets a `Fault`.
   */
  readonly outcomeTimeoutMs: number
  /** Refuses appends to a ledger that has returned to an earlier state. Absent: no check. */
  readonly history?: LedgerHistory
  readonly onFlush?: (flush: { readonly items: number; readonly durationMs: number }) => void
}

// Maximum of items per batch. 64 claims are about 200 kB, and encoding them blocks the process for 3 ms. With a quick
// commit, larger batches would hardly lower the fixed cost per item.
const batchMax = 64
// Larger batches after a slow flush. A flush of 64 items takes about 3 ms besides its commit. With a commit of 5 ms,
// batches of 256 items had 1.2 to 1.7 times the throughput.
const slow = { ms: 8, batchMax: 256 }
const flushesMax = 2
const waitingMax = 10_000
const retryDelayMs = 100
// Distance between small batches, whose fixed cost is 2 ms of processor time each. With 16 callers over HTTP, 20 ms
// double the items per batch. The distance is a multiple of the last flush, so that the few callers of a quick ledger
// do not wait 20 ms for an append of 2 ms.
const distanceInFlushes = 4
const distanceMaxMs = 20
const gatheringItems = 16

/** Creates a ledger with group commit: appends that arrive during a commit share the next one. */
export function createLedger(deps: LedgerDeps): LedgerKernel {
  assert(deps.outcomeTimeoutMs > 0, 'there is time to learn an outcome')
  const queue = createBatchQueue<Item, AppendResult>({
    batchMax,
    flushesMax,
    waitingMax,
    keyOf: (item) => streamKey(item.stream),
    flush: (batch) => flush(deps, batch),
    gathering: {
      itemsEnough: gatheringItems,
      pause: (lastFlushMs) => deps.clock.sleep(Math.min(distanceMaxMs, distanceInFlushes * lastFlushMs)),
      slow,
      monotonicMs: () => deps.clock.monotonicMs(),
    },
  })
  const reads = createReadQueue(deps.pool)
  return {
    append: (item) => queue.submit(item),
    read: (stream) => reads.submit(stream),
    readMany: (streams) => readManyEvents(deps.pool, streams),
    drained: () => queue.drained(),
  }
}

/** The outcome of one item, or the error if only this item failed. */
type Settled = PromiseSettledResult<AppendResult>

/**
 * Resolves when the outcome is certain. Rejects with a `Fault` after a lasting error, or when the time is over. If the
 * answer of an append was lost, sends the same bytes again. If the first append had been committed, the version is
 * newer, and the recorded bodies equal those of the batch.
 */
async function flush(deps: LedgerDeps, batch: readonly Item[]): Promise<readonly Settled[]> {
  const startedAtMs = deps.clock.monotonicMs()
  const outcomes = await settleBatch(deps, batch, { deadlineMs: startedAtMs + deps.outcomeTimeoutMs, inDoubt: false })
  deps.onFlush?.({ items: batch.length, durationMs: deps.clock.monotonicMs() - startedAtMs })
  return outcomes
}

interface Doubt {
  readonly deadlineMs: number
  /** True if an earlier call may have committed these items. */
  readonly inDoubt: boolean
}

async function settleBatch(deps: LedgerDeps, batch: readonly Item[], doubt: Doubt): Promise<readonly Settled[]> {
  try {
    const results = await appendOnce(deps, batch)
    return doubt.inDoubt ? await recogniseOwn(deps, batch, results) : results.map(settled)
  } catch (error) {
    if (error instanceof Bug) throw error
    deps.history?.requireOpen()
    const failure = judgeWriteFailure(error)
    if (failure === 'refused') return appendOneByOne(deps, batch, { ...doubt, error })
    const inDoubt = doubt.inDoubt || failure === 'unknown'
    deps.log.warn({ event: 'append_failed', failure, items: batch.length, error: describeError(error) })
    if (failure === 'undone' || deps.clock.monotonicMs() >= doubt.deadlineMs)
      throw new Fault(inDoubt ? outcomeUnknown : 'the ledger takes no appends', { cause: error, retryable: true })
    await deps.clock.sleep(retryDelayMs)
    return settleBatch(deps, batch, { ...doubt, inDoubt })
  }
}

async function appendOnce(deps: LedgerDeps, batch: readonly Item[]): Promise<readonly AppendResult[]> {
  const { pool, history } = deps
  history?.requireOpen()
  const known = history?.known()
  try {
    const results = await appendBatch(pool, batch, known)
    if (history !== undefined && known !== undefined) observeAppended(history, leavesOf(results), known)
    return results
  } catch (error) {
    if (isOtherHistory(error)) await history?.compare(pool)
    throw error
  }
}

const outcomeUnknown = 'the ledger did not report whether it took the append'

function settled(value: AppendResult): Settled {
  return { status: 'fulfilled', value }
}

/**
 * Appends each item alone after one item made the server reject the whole batch, so that the other items do not fail
 * with it.
 */
async function appendOneByOne(
  deps: LedgerDeps,
  batch: readonly Item[],
  { error, ...doubt }: Doubt & { readonly error: unknown },
): Promise<readonly Settled[]> {
  const [only, another] = batch
  if (another === undefined)
    throw new Fault(`the ledger rejected an append: ${only?.step}`, { cause: error, retryable: false })
  const outcomes: Settled[] = []
  for (const item of batch) outcomes.push(...(await Promise.allSettled([settleOne(deps, item, doubt)])))
  const rejected = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? describeError(outcome.reason) : []))
  deps.log.error({ event: 'append_batch_split', items: batch.length, rejected })
  return outcomes
}

async function settleOne(deps: LedgerDeps, item: Item, doubt: Doubt): Promise<AppendResult> {
  const [outcome] = await settleBatch(deps, [item], doubt)
  if (outcome?.status === 'rejected') throw outcome.reason
  return assertPresent(outcome, 'an append answers each item').value
}

/**
 * Finds the items that the append with the lost answer had committed: items that now conflict, and whose bodies the
 * ledger has.
 */
async function recogniseOwn(
  { pool }: LedgerDeps,
  batch: readonly Item[],
  found: readonly AppendResult[],
): Promise<readonly Settled[]> {
  const outcomes: Settled[] = []
  for (const [index, item] of batch.entries()) {
    const result = assertPresent(found[index], 'an append answers each item')
    const isConflict = result.outcome === 'refused' && result.refusal.reason === 'conflict'
    const own = isConflict ? await findOwn(pool, item) : undefined
    outcomes.push(settled(own ?? result))
  }
  return outcomes
}

function leavesOf(results: readonly AppendResult[]): readonly Leaf[] {
  return results.flatMap((result) => (result.outcome === 'appended' ? result.leaves : []))
}

async function findOwn(pool: QueryRunner, item: Item): Promise<Appended | undefined> {
  const recorded = await readEvents(pool, item.stream)
  const found = recorded.slice(item.expectedVersion, item.expectedVersion + item.events.length)
  const [first] = found
  const isSame =
    found.length === item.events.length &&
    found.every(({ body }, k) => Buffer.compare(body, item.events[k]?.body ?? Buffer.alloc(0)) === 0)
  if (first === undefined || !isSame) return undefined
  const leaves = found.map(({ position, leafHash }) => ({ position, leafHash }))
  return { outcome: 'appended', recordedAtMs: first.recordedAtMs, leaves }
}

import { assert, assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'

export interface BatchQueueOptions<Item, Outcome> {
  readonly batchMax: number
  /**
   * Maximum of concurrent flushes. A second flush starts only with `batchMax` items: with a commit of 5 ms, two half
   * batches had half the throughput of one full batch.
   */
  readonly flushesMax: number
  /** Maximum of waiting items. A longer queue means that the database does not keep up, so further items are refused. */
  readonly waitingMax: number
  /** Returns the key of an item. Items with the same key are not in progress together, so that they do not conflict. */
  readonly keyOf: (item: Item) => string
  /**
   * Handles a batch in one round trip. Outcomes are in the order of the items. An item that fails alone has a rejected
   * outcome. If the promise rejects, all items have failed.
   */
  readonly flush: (batch: readonly Item[]) => Promise<readonly PromiseSettledResult<Outcome>[]>
  /** Pauses between batches. Absent: each batch starts as soon as the previous batch ends. */
  readonly gathering?: Gathering
}

/**
 * Pauses between batches while callers overlap, so that items gather: a batch of one item costs nearly as much as a
 * batch of ten. A pause ends early once as many items wait as there were callers at the end of the last flush, because
 * few other callers are then likely to follow.
 */
export interface Gathering {
  /** Number of waiting items that start a batch without a pause. */
  readonly itemsEnough: number
  /** Resolves when the next batch may start, counted from the start of the previous batch. */
  pause(lastFlushMs: number): Promise<void>
  /** Replaces `batchMax` after a flush that took `ms` or longer, so that a slow commit serves more items. */
  readonly slow?: { readonly ms: number; readonly batchMax: number }
  readonly monotonicMs: () => number
}

/**
 * A queue that handles items in batches. `submit` rejects with a retryable `Fault` if too many items wait, and with the
 * batch's error if the whole batch fails.
 */
export interface BatchQueue<Item, Outcome> {
  submit(item: Item): Promise<Outcome>
  /** Resolves when no item is waiting or in progress. */
  drained(): Promise<void>
}

interface Waiting<Item, Outcome> {
  readonly item: Item
  readonly key: string
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

// Number of small batches that are spaced in time after two callers have overlapped, because such callers are likely to
// overlap again soon.
const pacedBatches = 16

/**
 * Creates a queue with group commit: items that arrive during a flush form the next batch. Items of a single caller are
 * flushed immediately. After items of two callers have overlapped, small batches are spaced in time.
 */
export function createBatchQueue<Item, Outcome>(options: BatchQueueOptions<Item, Outcome>): BatchQueue<Item, Outcome> {
  assert(options.batchMax > 0 && options.flushesMax > 0, 'a queue flushes batches of at least one item')
  assert(options.waitingMax > 0, 'an item may wait')
  const underWay = new Set<string>()
  const flushes = new Set<Promise<void>>()
  let waiting: Waiting<Item, Outcome>[] = []
  let startPlanned = false
  let pausing: Promise<void> | undefined
  let batchesToPace = 0
  let lastFlushMs = 0
  let callers = 1

  function mayStart({ gathering }: BatchQueueOptions<Item, Outcome>): boolean {
    if (flushes.size > 0) return flushes.size < options.flushesMax && waiting.length >= options.batchMax
    if (pausing === undefined || gathering === undefined) return true
    return waiting.length >= Math.min(gathering.itemsEnough, callers)
  }

  function pace({ gathering }: BatchQueueOptions<Item, Outcome>): void {
    if (gathering === undefined || pausing !== undefined || batchesToPace === 0) return
    batchesToPace -= 1
    pausing = gathering.pause(lastFlushMs).finally(() => {
      pausing = undefined
      plan()
    })
  }

  function start(): void {
    startPlanned = false
    while (mayStart(options)) {
      const { batch, rest } = takeBatch(waiting, underWay, sizeMax(options, lastFlushMs))
      if (batch.length === 0) return
      waiting = rest
      const startedAtMs = options.gathering?.monotonicMs() ?? 0
      const flush: Promise<void> = flushBatch(batch, options).finally(() => {
        for (const { key } of batch) underWay.delete(key)
        flushes.delete(flush)
        lastFlushMs = (options.gathering?.monotonicMs() ?? 0) - startedAtMs
        callers = batch.length + waiting.length
        plan()
      })
      flushes.add(flush)
      pace(options)
    }
  }

  // Start after the current turn of the event loop, so that callers of one turn share a batch.
  function plan(): void {
    if (startPlanned) return
    startPlanned = true
    setImmediate(start)
  }

  return {
    submit(item) {
      if (waiting.length >= options.waitingMax) {
        return Promise.reject(new Fault('the ledger does not keep up with its writers', { retryable: true }))
      }
      if (flushes.size > 0 || waiting.length > 0) batchesToPace = pacedBatches
      return new Promise((resolve, reject) => {
        waiting.push({ item, key: options.keyOf(item), resolve, reject })
        plan()
      })
    },
    async drained() {
      while (flushes.size > 0 || waiting.length > 0)
        await (flushes.size > 0 ? Promise.race(flushes) : (pausing ?? nextTurn()))
    },
  }
}

function sizeMax(
  { batchMax, gathering }: Pick<BatchQueueOptions<never, never>, 'batchMax' | 'gathering'>,
  lastFlushMs: number,
): number {
  const slow = gathering?.slow
  return slow !== undefined && lastFlushMs >= slow.ms ? slow.batchMax : batchMax
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function takeBatch<Item, Outcome>(waiting: readonly Waiting<Item, Outcome>[], underWay: Set<string>, batchMax: number) {
  const batch: Waiting<Item, Outcome>[] = []
  const rest: Waiting<Item, Outcome>[] = []
  for (const entry of waiting) {
    if (batch.length < batchMax && !underWay.has(entry.key)) {
      underWay.add(entry.key)
      batch.push(entry)
    } else {
      rest.push(entry)
    }
  }
  return { batch, rest }
}

async function flushBatch<Item, Outcome>(
  batch: readonly Waiting<Item, Outcome>[],
  { flush }: BatchQueueOptions<Item, Outcome>,
): Promise<void> {
  try {
    const outcomes = await flush(batch.map((entry) => entry.item))
    for (const [index, entry] of batch.entries()) {
      const outcome = assertPresent(outcomes[index], 'a flush answers each item')
      if (outcome.status === 'fulfilled') entry.resolve(outcome.value)
      else entry.reject(outcome.reason)
    }
  } catch (error) {
    for (const entry of batch) entry.reject(error)
  }
}

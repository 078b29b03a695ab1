import { assertPresent } from '@tollbook/core/assert'
import { type BatchQueue, createBatchQueue } from './batchQueue.ts'
import type { QueryRunner } from './database.ts'
import type { RecordedEvent } from './port.ts'
import { readEvents, readManyEvents, streamKey } from './readEvents.ts'

type Events = readonly RecordedEvent[]

// Limits of the queue, equal to those for appends after a quick flush.
const batchMax = 64
const flushesMax = 2
const waitingMax = 10_000

/**
 * Creates a queue that reads streams. Lookups that wait for an earlier lookup share the next statement. Separate
 * statements took a fifth of the processor time of a debit. Each read returns everything that was committed before its
 * submission.
 */
export function createReadQueue(pool: QueryRunner): Pick<BatchQueue<Uint8Array, Events>, 'submit'> {
  return createBatchQueue<Uint8Array, Events>({
    batchMax,
    flushesMax,
    waitingMax,
    keyOf: streamKey,
    flush: (batch) => readBatch(pool, batch),
  })
}

/**
 * Reads the streams of a batch in one query. If it fails, each stream is read alone, so that an unreadable stream fails
 * alone.
 */
async function readBatch(
  pool: QueryRunner,
  batch: readonly Uint8Array[],
): Promise<readonly PromiseSettledResult<Events>[]> {
  const [only, another] = batch
  if (another === undefined) return Promise.allSettled([readEvents(pool, assertPresent(only, 'a batch has a stream'))])
  try {
    const found = await readManyEvents(pool, batch)
    return found.map((value) => ({ status: 'fulfilled', value }))
  } catch {
    return Promise.allSettled(batch.map((stream) => readEvents(pool, stream)))
  }
}

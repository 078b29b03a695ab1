import { LRUCache } from 'lru-cache'
import { readCheckpoint } from '@tollbook/core/checkpoint'
import { assertPresent } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import type { SealedTree } from '../reports/sealedTree.ts'
import { preparePublicBody, type PublicBody } from '../transport/publicBody.ts'
import { shareReading } from '../transport/shareReading.ts'

/** Checkpoints, proofs and tiles in memory. Their contents never change, because a sealed tree only grows. */
export interface SealMemory {
  /** Returns the newest checkpoint, at most 200 ms old. Undefined before the first event. */
  newest(): Promise<SealedSize | undefined>
  /**
   * Returns the body that is stored under a name. If there is none, reads and stores it. The content of a name never
   * changes.
   */
  once(name: string, read: () => Promise<PublicBody | undefined>): Promise<PublicBody | undefined>
}

export interface SealedSize {
  readonly size: number
  readonly note: PublicBody
}

export interface SealMemoryDeps {
  readonly clock: Clock
  readonly tree: Pick<SealedTree, 'checkpoint'>
}

// Maximum age of the newest checkpoint. The sealer signs once a second. With five readings a second, callers wait at
// most a fifth of a second longer.
const newestAgeMaxMs = 200
// Maximum bytes in memory. They are enough for 6,000 proofs of 1.3 kB, or 30 bundles of entries with their compressed
// forms.
const memoryBytesMax = 16 * 1024 * 1024
// Bytes of memory that each body takes in addition to its content.
const overheadBytes = 1_024

/** Bounded by bytes. Concurrent reads of one name share one query. */
export function createSealMemory({ clock, tree }: SealMemoryDeps): SealMemory {
  const bodies = new LRUCache<string, PublicBody, () => Promise<PublicBody | undefined>>({
    maxSize: memoryBytesMax,
    sizeCalculation: bytesOf,
    // Finish a read even if its entry is dropped from the full memory, so that its callers get the body.
    ignoreFetchAbort: true,
    fetchMethod: (_name, _stale, { context: read }) => read(),
  })
  return {
    newest: shareReading({ clock, ageMaxMs: newestAgeMaxMs, read: () => readNewest(tree) }),
    once: (name, read) => bodies.fetch(name, { context: read }),
  }
}

async function readNewest(tree: SealMemoryDeps['tree']): Promise<SealedSize | undefined> {
  const note = await tree.checkpoint()
  if (note === undefined) return undefined
  const { size } = assertPresent(readCheckpoint(note), 'the sealer writes well-formed checkpoints')
  return { size, note: await preparePublicBody(note) }
}

function bytesOf({ bytes, coded }: PublicBody): number {
  return [...coded.values()].reduce((sum, form) => sum + form.length, bytes.length + overheadBytes)
}

import { LRUCache } from 'lru-cache'
import { readCheckpoint } from '@tollbook/core/checkpoint'
import { assertPresent } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import type { SealedTree } from '../reports/sealedTree.ts'
import { preparePublicBody, type PublicBody } from '../transport/publicBody.ts'
import { shareReading } from '../transport/shareReading.ts'

export type SealMemory = ReturnType<typeof createSealMemory>

export interface SealMemoryDeps {
  readonly clock: Clock
  readonly tree: Pick<SealedTree, 'checkpoint'>
}

// Maximum age of the newest checkpoint. It is short, so that callers wait only a little longer than for the next
// signature.
const newestAgeMaxMs = 200
// Maximum bytes in memory, enough for thousands of proofs.
const memoryBytesMax = 16 * 1024 * 1024
// Bytes of memory that each body takes in addition to its content.
const overheadBytes = 1_024

/**
 * Keeps checkpoints, proofs and tiles in memory, bounded by bytes. The content of a name never changes, because a
 * sealed tree only grows.
 */
export function createSealMemory({ clock, tree }: SealMemoryDeps) {
  const bodies = new LRUCache<string, PublicBody, () => Promise<PublicBody | undefined>>({
    maxSize: memoryBytesMax,
    sizeCalculation: bytesOf,
    // Finish a read even if its entry is dropped from the full memory, so that its callers get the body.
    ignoreFetchAbort: true,
    fetchMethod: (_name, _stale, { context: read }) => read(),
  })
  return {
    /** Undefined before the first checkpoint. */
    newest: shareReading({ clock, ageMaxMs: newestAgeMaxMs, read: () => readNewest(tree) }),
    /** Returns the stored body, or reads and stores it. Concurrent reads of one name share one query. */
    once: (name: string, read: () => Promise<PublicBody | undefined>) => bodies.fetch(name, { context: read }),
  }
}

async function readNewest(tree: SealMemoryDeps['tree']) {
  const note = await tree.checkpoint()
  if (note === undefined) return undefined
  const { size } = assertPresent(readCheckpoint(note), 'the sealer writes well-formed checkpoints')
  return { size, note: await preparePublicBody(note) }
}

function bytesOf({ bytes, coded }: PublicBody): number {
  return [...coded.values()].reduce((sum, form) => sum + form.length, bytes.length + overheadBytes)
}

import { LRUCache } from 'lru-cache'
import { readCheckpoint } from '@tollbook/core/checkpoint'
import { assertPresent } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import type { SealedTree } from '../reports/sealedTree.ts'
import { preparePublicBody, type PublicBody } from '../transport/publicBody.ts'
import { shareReading } from '../transport/shareReading.ts'

/** Checkpoints, proofs and tiles in memory. The past of a sealed tree cannot change; only its newest size can. */
export interface SealMemory {
  /** The newest checkpoint, at most a fifth of a second old. Undefined before the first event. */
  newest(): Promise<SealedSize | undefined>
  /** Returns the body under a name whose content never changes, and reads it when it is not in memory. */
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

// The sealer signs once a second; five readings a second add a fifth to what a caller waits.
const newestAgeMaxMs = 200
// 6,000 proofs of 1.3 kB, or 30 bundles of entries with their compressed forms.
const memoryBytesMax = 16 * 1024 * 1024
// A small body costs more than its bytes.
const overheadBytes = 1_024

/** Bounded by bytes. Concurrent reads of one name share one query. */
export function createSealMemory({ clock, tree }: SealMemoryDeps): SealMemory {
  const bodies = new LRUCache<string, PublicBody, () => Promise<PublicBody | undefined>>({
    maxSize: memoryBytesMax,
    sizeCalculation: bytesOf,
    // A full memory must not break the answer that is being read.
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

import { assert } from '@tollbook/core/assert'
import { LedgerDamage } from '@tollbook/core/ledgerDamage'
import { equalBytes } from '@tollbook/core/bytes'
import type { TreeHead } from '@tollbook/core/merkle'
import { emptyEdge, type FullTile, grow, rootOfEdge, type TreeEdge } from '@tollbook/core/tiles'
import type { Database } from './database.ts'
import type { Election, Lease } from './election.ts'
import { callSeal, headPosition, newestCheckpoint, readEdge, readLeaves, type StoredCheckpoint } from './sealStore.ts'

export interface SealerDeps {
  readonly database: Database
  readonly election: Election
  /**
   * Called before each step, so that no checkpoint covers a restored backup. Throws a Fault unless the database
   * continues the ledger that this instance has seen.
   */
  readonly requireHistory?: () => Promise<void>
  /** Receives the number of events to seal, before a step that may fail. */
  readonly onUnsealed?: (events: number) => void
  readonly sign: (tree: TreeHead) => string
}

export interface SealOutcome {
  /** Number of events that this step sealed. 0 if all events were already sealed, or another instance is sealing. */
  readonly sealedEvents: number
  readonly head: number
  readonly checkpoint: { readonly size: number; readonly root: Uint8Array; readonly note: string } | undefined
}

// Events per page. A body has at most 65,519 bytes, so a page has at most 34 MB and usually half a megabyte.
const pageEvents = 512
// Maximum of events per database transaction: 0.3 s of work. Memory holds only one page of these events and 64 tiles.
const stepEventsMax = 64 * 256

/**
 * Any instance may call this at any time: a lease admits one instance, and the database refuses an instance that was
 * replaced. Throws `LedgerDamage` if the ledger differs from what was recorded or signed.
 */
export async function sealNext(deps: SealerDeps): Promise<SealOutcome> {
  const { database, election } = deps
  await deps.requireHistory?.()
  // Check without a lease first, because usually all events are already sealed.
  const [checkpoint, head] = [await newestCheckpoint(database), await headPosition(database)]
  deps.onUnsealed?.(head - (checkpoint?.size ?? 0))
  if (head === (checkpoint?.size ?? 0)) return { sealedEvents: 0, head, checkpoint }
  const step = await election.run('tollbook seal', (lease) => sealUnderLease(deps, lease))
  return step ?? { sealedEvents: 0, head, checkpoint }
}

async function sealUnderLease({ database, sign }: SealerDeps, lease: Lease): Promise<SealOutcome> {
  const [known, head] = [await newestCheckpoint(database), await headPosition(database)]
  const size = known?.size ?? 0
  if (head < size) throw new LedgerDamage(`the ledger ends at position ${head} and was sealed up to ${size}`)
  if (head === size) return { sealedEvents: 0, head, checkpoint: known }
  const edge = await readSealedEdge(database, known)
  const { edge: grown, tiles } = await growEdge(database, edge, Math.min(head, size + stepEventsMax))
  assert(grown.size > size && grown.size <= head, 'a step seals events that exist')
  const tree = { size: grown.size, root: rootOfEdge(grown) }
  const checkpoint = { ...tree, note: sign(tree) }
  await callSeal(database, { lease, checkpoint, tiles })
  return { sealedEvents: grown.size - size, head, checkpoint }
}

/** Throws if the root of the edge differs from the signed root, so that no signature covers a changed tree. */
async function readSealedEdge(database: Database, known: StoredCheckpoint | undefined): Promise<TreeEdge> {
  if (known === undefined) return emptyEdge
  const edge = await readEdge(database, known.size)
  if (!equalBytes(rootOfEdge(edge), known.root))
    throw new LedgerDamage(
      `the tree below position ${known.size} is not the one that checkpoint ${known.size} was signed over`,
    )
  return edge
}

async function growEdge(database: Database, from: TreeEdge, size: number) {
  const tiles: FullTile[] = []
  let edge = from
  while (edge.size < size) {
    const leaves = await readLeaves(database, { from: edge.size, to: Math.min(size, edge.size + pageEvents) })
    const grown = grow(edge, leaves)
    edge = grown.edge
    tiles.push(...grown.tiles)
  }
  return { edge, tiles }
}

/** Computes the root from the current database, including events that are not sealed yet. */
export async function rootAt(database: Database, size: number): Promise<Uint8Array> {
  assert(size >= 0, 'a root is of events')
  const sealed = (await newestCheckpoint(database))?.size ?? 0
  let edge = await readEdge(database, Math.min(sealed, size))
  while (edge.size < size) {
    const next = Math.min(size, edge.size + stepEventsMax)
    ;({ edge } = await growEdge(database, edge, next))
  }
  return rootOfEdge(edge)
}

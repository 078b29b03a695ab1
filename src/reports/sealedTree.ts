import { leafEntry } from '@tollbook/core/leaf'
import { consistencyRanges, hashBytes, inclusionRanges, type LeafRange } from '@tollbook/core/merkle'
import { hashOfRange, readTilePath, tileKey, type TilePath, tilesOf, tileWidth, widthAt } from '@tollbook/core/tiles'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase64 } from '@tollbook/core/base64'
import type { Database } from '../store/database.ts'
import { checkpointAt, eventsIn, newestCheckpoint, readTiles, type StoredCheckpoint } from '../store/sealStore.ts'

/** Positions count from 1. Hashes are in base64. */
export type SealedTree = ReturnType<typeof readSealedTree>

export interface InclusionQuestion {
  readonly position: number
  readonly treeSize: number | undefined
}

/** Hashes are in base64. `checkpoint` is the signed note of the tree. */
export type InclusionProof = Readonly<{
  position: number
  leafHash: string
  treeSize: number
  root: string
  path: readonly string[]
  checkpoint: string
}>

export type TreeSizes = Readonly<{ from: number; to: number }>

/** Hashes are in base64. Sizes count events. */
export type ConsistencyProof = Readonly<{
  from: number
  to: number
  path: readonly string[]
  /** The signed notes of the two sizes. Null for a size that has no signed note. */
  checkpoints: Readonly<{ from: string | null; to: string | null }>
}>

/**
 * Returns functions that prove and read sealed events. Every function throws a retryable `Fault` if the database does
 * not answer.
 */
export function readSealedTree(database: Database) {
  return {
    checkpoint: async () => (await newestCheckpoint(database))?.note,
    /** Proves that a tree contains the event. Undefined if it does not, or if no signed tree has this size. */
    proveInclusion: (question: InclusionQuestion) => proveInclusion(database, question),
    /** Proves that the larger tree begins with the smaller one. Undefined if the larger tree is not sealed. */
    proveConsistency: (sizes: TreeSizes) => proveConsistency(database, sizes),
    /**
     * Returns a tile of C2SP tlog-tiles by its path `<L>/<N>[.p/<W>]`, whole or partial. Undefined if the path is not
     * valid, or if the sealed tree does not reach the tile.
     */
    tile: (path: string) => readTile(database, path),
  }
}

async function proveInclusion(
  database: Database,
  { position, treeSize }: InclusionQuestion,
): Promise<InclusionProof | undefined> {
  const checkpoint = await (treeSize === undefined ? newestCheckpoint(database) : checkpointAt(database, treeSize))
  if (checkpoint === undefined || position > checkpoint.size) return undefined
  const { size, root, note } = checkpoint
  const [own, ...path] = await hashesOf(
    database,
    [{ from: position - 1, to: position }, ...inclusionRanges(position - 1, size)],
    size,
  )
  const leafHash = assertPresent(own, 'the leaf was asked for first')
  return { position, leafHash, treeSize: size, root: encodeBase64(root), path, checkpoint: note }
}

async function proveConsistency(database: Database, { from, to }: TreeSizes): Promise<ConsistencyProof | undefined> {
  const newest = await newestCheckpoint(database)
  if (newest === undefined || to > newest.size) return undefined
  const path = await hashesOf(database, consistencyRanges(from, to), newest.size)
  const noteAt = async (size: number) => noteOf(size === newest.size ? newest : await checkpointAt(database, size))
  return { from, to, path, checkpoints: { from: await noteAt(from), to: await noteAt(to) } }
}

function noteOf(checkpoint: StoredCheckpoint | undefined): string | null {
  return checkpoint?.note ?? null
}

/** Reads few tiles per level, so a proof needs few lookups even in a long ledger. */
async function hashesOf(database: Database, ranges: readonly LeafRange[], size: number): Promise<readonly string[]> {
  const tiles = await readTiles(database, tilesOf(ranges), size)
  return ranges.map((range) => encodeBase64(hashOfRange(range, tiles)))
}

async function readTile(database: Database, text: string): Promise<Buffer | undefined> {
  const path = readTilePath(text)
  const newest = path === undefined ? undefined : await newestCheckpoint(database)
  return path === undefined || newest === undefined ? undefined : cutTile(database, path, newest.size)
}

async function cutTile(
  database: Database,
  { level, index, width }: TilePath,
  size: number,
): Promise<Buffer | undefined> {
  const id = { level: level === 'entries' ? 0 : level, index }
  if (widthAt(id, size) < width) return undefined
  if (level === 'entries') return readEntryTile(database, { from: index * tileWidth, to: index * tileWidth + width })
  const tiles = await readTiles(database, [id], size)
  const hashes = assertPresent(tiles.get(tileKey(id)), 'a tile that the size reaches is read')
  return Buffer.from(hashes.subarray(0, width * hashBytes))
}

/** Reads the entries of a tile, each after its length in 2 bytes. A tile has at most 256 entries. */
async function readEntryTile(database: Database, { from, to }: LeafRange): Promise<Buffer> {
  const rows = await eventsIn(database, { from, to })
  return Buffer.concat(
    rows.flatMap(({ seq, recorded_at: recordedAt, body }) => {
      const entry = leafEntry({ position: seq, recordedAtMs: recordedAt.getTime(), body })
      const length = Buffer.alloc(2)
      length.writeUInt16BE(entry.length)
      return [length, entry]
    }),
  )
}

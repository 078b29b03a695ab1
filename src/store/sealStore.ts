import { sql } from 'kysely'
import { assert } from '@tollbook/core/assert'
import { leafHash } from '@tollbook/core/leaf'
import { LedgerDamage } from '@tollbook/core/ledgerDamage'
import { equalBytes } from '@tollbook/core/bytes'
import type { TreeHead } from '@tollbook/core/merkle'
import {
  edgeSlices,
  type FullTile,
  type TileId,
  tileKey,
  type TileReader,
  tileWidth,
  type TreeEdge,
  widthAt,
} from '@tollbook/core/tiles'
import { type Database, assertRow, readRows } from './database.ts'
import type { Lease } from './election.ts'

export interface StoredCheckpoint extends TreeHead {
  readonly note: string
}

/** Undefined before the first seal. */
export async function newestCheckpoint(database: Database): Promise<StoredCheckpoint | undefined> {
  const [newest] = await readRows(database, 'the newest checkpoint')<StoredCheckpoint>`
    select size, root, note from ledger.checkpoints order by size desc limit 1`
  return checkpointOf(newest)
}

export async function checkpointAt(database: Database, size: number): Promise<StoredCheckpoint | undefined> {
  assert(Number.isSafeInteger(size), 'a checkpoint is found by its size')
  const [found] = await readRows(database, 'a checkpoint')<StoredCheckpoint>`
    select size, root, note from ledger.checkpoints where size = ${size}`
  return checkpointOf(found)
}

function checkpointOf(row: StoredCheckpoint | undefined): StoredCheckpoint | undefined {
  if (row === undefined) return undefined
  const { size, root, note } = row
  assert(size > 0 && root.length === hashBytes, 'a checkpoint is of events and has a root')
  return { size, root, note }
}

const hashBytes = 32

/** Reads without a lock, so appends never wait for the seal. */
export async function headPosition(database: Database): Promise<number> {
  const { seq } = await assertRow(database, 'the head of the ledger')<{ seq: number }>`select seq from ledger.head`
  assert(seq >= 0, 'positions count up from 0')
  return seq
}

/**
 * Recomputes the leaves after `from` up to `to` from the bodies. A body that changed after its append must never be
 * signed: a public log had to shut down after it had signed one flipped bit.
 */
export async function readLeaves(database: Database, { from, to }: Span): Promise<readonly Uint8Array[]> {
  assert(from >= 0 && from <= to, 'leaves are read forward')
  const rows = await eventsIn(database, { from, to })
  if (rows.length !== to - from)
    throw new LedgerDamage(`of the events ${from + 1} to ${to} only ${rows.length} are there`)
  return rows.map((row, k) => {
    if (row.seq !== from + k + 1) throw new LedgerDamage(`event ${from + k + 1} is not there`)
    const leaf = leafHash({ position: row.seq, recordedAtMs: row.recorded_at.getTime(), body: row.body })
    if (!equalBytes(leaf, row.leaf_hash))
      throw new LedgerDamage(`event ${row.seq} is not what was recorded: its body and its leaf differ`)
    return leaf
  })
}

/**
 * Positions after `from`, up to and including `to`. The leaves at these positions have the indexes from `from` up to,
 * but not including, `to`.
 */
export interface Span {
  readonly from: number
  readonly to: number
}

export function eventsIn(database: Database, { from, to }: Span) {
  assert(from <= to, 'a span does not go back')
  return readRows(database, 'events')<{ seq: number; recorded_at: Date; body: Buffer; leaf_hash: Buffer }>`
    select seq, recorded_at, body, leaf_hash from ledger.events where seq > ${from} and seq <= ${to} order by seq`
}

export async function readEdge(database: Database, size: number): Promise<TreeEdge> {
  assert(Number.isSafeInteger(size) && size >= 0, 'a tree has a size')
  const levels: (readonly Uint8Array[])[] = []
  for (const [level, slice] of edgeSlices(size).entries())
    levels.push(level === 0 ? await readLeaves(database, slice) : await readTileRoots(database, level, slice))
  return { size, levels }
}

/** Returns the hashes of a level. Each hash is the root of a tile in the level below. */
async function readTileRoots(database: Database, level: number, { from, to }: Span): Promise<readonly Uint8Array[]> {
  const rows = await readRows(database, 'roots of tiles')<{ root: Buffer }>`
    select root from ledger.tiles where level = ${level - 1} and index >= ${from} and index < ${to} order by index`
  if (rows.length !== to - from) throw new LedgerDamage(`tiles of level ${level - 1} are missing below ${to}`)
  return rows.map((row) => row.root)
}

export async function readTiles(database: Database, ids: readonly TileId[], size: number): Promise<TileReader> {
  assert(size >= 0, 'a tree has a size')
  const tiles = new Map<string, Uint8Array>()
  for (const id of ids) {
    const width = widthAt(id, size)
    if (width > 0) tiles.set(tileKey(id), await readTile(database, id, width))
  }
  return tiles
}

async function readTile(database: Database, id: TileId, width: number): Promise<Uint8Array> {
  const { level, index } = id
  assert(width > 0 && width <= tileWidth, 'a tile has at least one hash, and no more than its width')
  if (width === tileWidth) {
    const [row] = await readRows(database, 'a tile')<{ hashes: Buffer }>`
      select hashes from ledger.tiles where level = ${level} and index = ${index}`
    if (row === undefined) throw new LedgerDamage(`tile ${tileKey(id)} is missing`)
    return row.hashes
  }
  const slice = { from: index * tileWidth, to: index * tileWidth + width }
  const hashes = level === 0 ? await readStoredLeaves(database, slice) : await readTileRoots(database, level, slice)
  return Buffer.concat(hashes)
}

/** Skips the comparison with the bodies, because the sealer has made it. */
async function readStoredLeaves(database: Database, { from, to }: Span): Promise<readonly Uint8Array[]> {
  const rows = await readRows(database, 'hashes of leaves')<{ leaf_hash: Buffer }>`
    select leaf_hash from ledger.events where seq > ${from} and seq <= ${to} order by seq`
  if (rows.length !== to - from) throw new LedgerDamage(`events between ${from} and ${to} are missing`)
  return rows.map((row) => row.leaf_hash)
}

export interface SealedTiles {
  readonly lease: Lease
  readonly checkpoint: TreeHead & { readonly note: string }
  readonly tiles: readonly FullTile[]
}

/** Throws if another instance has taken the lease. */
export async function callSeal(database: Database, { lease, checkpoint, tiles }: SealedTiles): Promise<void> {
  const { size, root, note } = checkpoint
  assert(root.length === hashBytes && note !== '', 'a seal has a root and a signed note')
  await sql`select ledger.seal(
    ${lease.name}, ${lease.epoch}, ${size}, ${Buffer.from(root)}, ${note},
    ${tiles.map(({ level }) => level)}::smallint[],
    ${tiles.map(({ index }) => index)}::bigint[],
    ${tiles.map(({ hashes }) => Buffer.from(hashes))}::bytea[],
    ${tiles.map(({ root }) => Buffer.from(root))}::bytea[])`.execute(database)
}

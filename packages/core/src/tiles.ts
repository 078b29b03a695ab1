import { concatBytes } from './bytes.ts'
import { assert, assertPresent } from './assert.ts'
import { hashBytes, type LeafRange, type Frontier, addLeaf, emptyFrontier, rootOf, rootOfHashes } from './merkle.ts'

/*
 * Stores the tree as tiles of 256 neighbouring hashes (C2SP tlog-tiles). Level 0 has the leaves. A hash at level L + 1
 * is the root of a full tile at level L. Only full tiles have a hash above them, so no stored hash ever changes.
 */

export const tileWidth = 256
const tileHeight = 8

export interface TileId {
  readonly level: number
  readonly index: number
}

export interface FullTile extends TileId {
  /** The 256 hashes of the tile, concatenated. */
  readonly hashes: Uint8Array
  readonly root: Uint8Array
}

/** Last tile of each level, full or partial, starting with the leaves. It is enough to add leaves to the tree. */
export interface TreeEdge {
  readonly size: number
  readonly levels: readonly (readonly Uint8Array[])[]
}

export const emptyEdge: TreeEdge = { size: 0, levels: [] }

export function edgeSlices(size: number): readonly LeafRange[] {
  const slices: LeafRange[] = []
  for (let count = size; count > 0; count = Math.floor(count / tileWidth))
    slices.push({ from: count - (count % tileWidth), to: count })
  return slices
}

export interface Growth {
  readonly edge: TreeEdge
  /** Each tile follows the tiles below it. */
  readonly tiles: readonly FullTile[]
}

/** Returns a new edge and does not change `edge`. */
export function grow(edge: TreeEdge, leaves: readonly Uint8Array[]): Growth {
  const levels = edge.levels.map((hashes) => [...hashes])
  const tiles: FullTile[] = []
  let { size } = edge
  for (const leaf of leaves) {
    size += 1
    let rising: Uint8Array | undefined = leaf
    for (let level = 0; rising !== undefined; level++) {
      const hashes = (levels[level] ??= [])
      hashes.push(rising)
      rising = hashes.length === tileWidth ? rootOfHashes(hashes) : undefined
      if (rising === undefined) continue
      tiles.push({ level, index: size / tileWidth ** (level + 1) - 1, hashes: concatBytes(hashes), root: rising })
      levels[level] = []
    }
  }
  return { edge: { size, levels }, tiles }
}

/** The largest subtrees are at the top, so the levels are combined from the top. */
export function rootOfEdge({ levels }: TreeEdge): Uint8Array {
  return rootOf({ peaks: levels.toReversed().flatMap((hashes) => frontierOf(hashes).peaks) })
}

function frontierOf(hashes: readonly Uint8Array[]): Frontier {
  return hashes.reduce(addLeaf, emptyFrontier)
}

/** Returns the number of hashes in the tile of a tree of this size, from 0 to 256. */
export function widthAt({ level, index }: TileId, size: number): number {
  const hashes = Math.floor(size / tileWidth ** level) - index * tileWidth
  return Math.max(0, Math.min(tileWidth, hashes))
}

/** The subtree has 2^height leaves and starts at leaf index × 2^height. */
interface TreeNode {
  readonly height: number
  readonly index: number
}

/** Returns the subtrees of the range, each the largest possible from the left. */
function nodesOf({ from, to }: LeafRange): readonly TreeNode[] {
  const nodes: TreeNode[] = []
  for (let start = from; start < to;) {
    let height = 0
    while (start % 2 ** (height + 1) === 0 && start + 2 ** (height + 1) <= to) height++
    nodes.push({ height, index: start / 2 ** height })
    start += 2 ** height
  }
  return nodes
}

interface TileSlice extends TileId {
  readonly from: number
  readonly to: number
}

/** The hashes below the root of a subtree are at most 128 neighbours in one tile. */
function sliceOf({ height, index }: TreeNode): TileSlice {
  const width = 2 ** (height % tileHeight)
  const tile = Math.floor((index * width) / tileWidth)
  const from = index * width - tile * tileWidth
  return { level: Math.floor(height / tileHeight), index: tile, from, to: from + width }
}

/** Lists each tile once, because a caller reads each of them from storage. */
export function tilesOf(ranges: readonly LeafRange[]): readonly TileId[] {
  const slices = ranges.flatMap(nodesOf).map(sliceOf)
  return [...new Map(slices.map(({ level, index }) => [tileKey({ level, index }), { level, index }])).values()]
}

export function tileKey({ level, index }: TileId): string {
  return `${level}/${index}`
}

/** Full or partial tiles. The keys are made by `tileKey`. */
export type TileReader = ReadonlyMap<string, Uint8Array>

/** Throws `Bug` if `tiles` lacks a hash of the range. */
export function hashOfRange(range: LeafRange, tiles: TileReader): Uint8Array {
  return rootOf({ peaks: nodesOf(range).map((node) => hashOfNode(node, tiles)) })
}

function hashOfNode(node: TreeNode, tiles: TileReader): Uint8Array {
  const { from, to, ...id } = sliceOf(node)
  const hashes = assertPresent(tiles.get(tileKey(id)), 'the tiles of a proof have been read')
  assert(hashes.length >= to * hashBytes, 'a tile reaches as far as the tree')
  return rootOfHashes(splitHashes(hashes.subarray(from * hashBytes, to * hashBytes)))
}

/** Returns views of 32 bytes each, and does not copy. */
export function splitHashes(hashes: Uint8Array): readonly Uint8Array[] {
  assert(hashes.length % hashBytes === 0, 'hashes have 32 bytes each')
  return Array.from({ length: hashes.length / hashBytes }, (_, k) =>
    hashes.subarray(k * hashBytes, (k + 1) * hashBytes),
  )
}

/** The level is `entries` for the entries of the leaves. */
export interface TilePath {
  readonly level: number | 'entries'
  readonly index: number
  readonly width: number
}

// Limits: levels up to 63, 255 hashes in a partial tile, and five groups of three digits.
const tilePath = /^(entries|\d|[1-5]\d|6[0-3])\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/

/**
 * Reads `<L>/<N>[.p/<W>]` of C2SP tlog-tiles, where 1234067 is written as x001/x234/067. Undefined for any other
 * spelling of a tile.
 */
export function readTilePath(text: string): TilePath | undefined {
  const [, levelText, indexText = '', widthText] = tilePath.exec(text) ?? []
  const width = widthText === undefined ? tileWidth : Number(widthText)
  if (levelText === undefined || (widthText !== undefined && width >= tileWidth)) return undefined
  const index = Number(indexText.replaceAll(/[x/]/g, ''))
  const level = levelText === 'entries' ? 'entries' : Number(levelText)
  return indexPath(index) === indexText ? { level, index, width } : undefined
}

/** Returns the path below `/tile/`, such as `0/x001/x234/067` or `1/000.p/8` (C2SP tlog-tiles). */
export function tilePathOf({ level, index, width }: TilePath): string {
  return `${level}/${indexPath(index)}${width === tileWidth ? '' : `.p/${width}`}`
}

function indexPath(index: number): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? []
  return groups.map((group, k) => (k === groups.length - 1 ? group : `x${group}`)).join('/')
}

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { equalBytes } from '@tollbook/core/bytes'
import { sha256 } from '@tollbook/core/digest'
import {
  addLeaf,
  consistencyRanges,
  emptyFrontier,
  inclusionRanges,
  isConsistent,
  type LeafRange,
  nodeHash,
  rootFromInclusion,
  rootOf,
} from '@tollbook/core/merkle'
import {
  edgeSlices,
  emptyEdge,
  type FullTile,
  grow,
  hashOfRange,
  readTilePath,
  rootOfEdge,
  splitHashes,
  tileKey,
  tilePathOf,
  tilesOf,
  tileWidth,
  widthAt,
} from '@tollbook/core/tiles'

// Past 128 a tree has nine levels, and every shape of a smaller one occurs.
const sizeMax = 140
const leaves = Array.from({ length: sizeMax }, (_, k) => sha256(`leaf ${k}`))

/** RFC 6962, 2.1, word for word: what everything else is held against. */
const memo = new Map<string, Uint8Array>()
function merkleTreeHash({ from, to }: LeafRange): Uint8Array {
  const known = memo.get(`${from}-${to}`)
  if (known !== undefined) return known
  const n = to - from
  const k = 2 ** (Math.ceil(Math.log2(n)) - 1)
  const hash =
    n === 0
      ? sha256('')
      : n === 1
        ? assertPresent(leaves[from], 'a leaf')
        : nodeHash(merkleTreeHash({ from, to: from + k }), merkleTreeHash({ from: from + k, to }))
  memo.set(`${from}-${to}`, hash)
  return hash
}

const rootAt = (size: number) => merkleTreeHash({ from: 0, to: size })
const sizes = Array.from({ length: sizeMax }, (_, k) => k + 1)
const flipped = (hash: Uint8Array, bit = 0) =>
  Uint8Array.from(hash, (byte, k) => (k === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
const same = (one: Uint8Array | undefined, other: Uint8Array) => one !== undefined && equalBytes(one, other)

/** Every alteration of the proofs of small trees; of each proof of a larger one, one alteration after the other. */
function chosen<T>(altered: readonly T[], size: number, turn: number): readonly T[] {
  return size <= 40 ? altered : altered.slice(turn % altered.length, (turn % altered.length) + 1)
}

test(`a tree that grows leaf by leaf has the root of RFC 6962 at every size to ${sizeMax}`, () => {
  let frontier = emptyFrontier
  for (const [k, leaf] of leaves.entries()) {
    expect(equalBytes(rootOf(frontier), rootAt(k))).toBe(true)
    frontier = addLeaf(frontier, leaf)
    expect(frontier.peaks.length).toBeLessThanOrEqual(Math.floor(Math.log2(frontier.size)) + 1)
  }
})

test(`every leaf of every size to ${sizeMax} proves, as itself and in its place alone`, () => {
  let proofs = 0
  let accepted = 0
  for (const size of sizes) {
    const root = rootAt(size)
    for (let index = 0; index < size; index++) {
      const leaf = assertPresent(leaves[index], 'a leaf')
      const path = inclusionRanges(index, size).map(merkleTreeHash)
      const claim = { index, size, leaf, path }
      if (same(rootFromInclusion(claim), root)) proofs++
      const altered = [
        { ...claim, leaf: flipped(leaf) },
        { ...claim, index: (index + 1) % size },
        { ...claim, index: index ^ 1 },
        { ...claim, path: [...path, root] },
        { ...claim, path: [root, ...path] },
        { ...claim, path: path.slice(1) },
        { ...claim, path: path.slice(0, -1) },
        // One of its hashes, another one each time; the property below flips any bit of any hash.
        { ...claim, path: path.map((hash, k) => (k === index % path.length ? flipped(hash, size % 256) : hash)) },
      ]
      const isOther = ({ index: i, leaf: l, path: p }: typeof claim) =>
        i !== index || l !== leaf || p.length !== path.length || p.some((hash, k) => !same(hash, path[k] ?? hash))
      accepted += chosen(altered, size, index).filter(
        (other) => isOther(other) && same(rootFromInclusion(other), root),
      ).length
    }
  }
  expect({ proofs, accepted }).toEqual({ proofs: (sizeMax * (sizeMax + 1)) / 2, accepted: 0 })
})

test(`every size to ${sizeMax} is consistent with every later one, and with no other root`, () => {
  let proofs = 0
  let accepted = 0
  for (const to of sizes) {
    const later = { size: to, root: rootAt(to) }
    for (let from = 1; from <= to; from++) {
      const earlier = { size: from, root: rootAt(from) }
      const path = consistencyRanges(from, to).map(merkleTreeHash)
      if (isConsistent({ earlier, later, path })) proofs++
      const altered = [
        { earlier: { ...earlier, root: flipped(earlier.root) }, later, path },
        { earlier, later: { ...later, root: flipped(later.root) }, path },
        { earlier, later, path: [...path, earlier.root] },
        { earlier, later, path: [later.root, ...path] },
        ...(path.length === 0
          ? []
          : [
              { earlier, later, path: path.slice(1) },
              { earlier, later, path: path.slice(0, -1) },
            ]),
        ...path.slice(0, 1).map((hash) => ({ earlier, later, path: [flipped(hash, to % 256), ...path.slice(1)] })),
      ]
      accepted += chosen(altered, to, from).filter(isConsistent).length
    }
  }
  expect({ proofs, accepted }).toEqual({ proofs: (sizeMax * (sizeMax + 1)) / 2, accepted: 0 })
})

const bit = fc.nat(255)
const place = fc.nat(1_000)

test('a proof with any one bit of any one hash altered fails', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: sizeMax }), place, place, bit, (size, someIndex, somePlace, someBit) => {
      const index = someIndex % size
      const path = inclusionRanges(index, size).map(merkleTreeHash)
      const at = somePlace % path.length
      const altered = path.map((hash, k) => (k === at ? flipped(hash, someBit) : hash))
      const leaf = assertPresent(leaves[index], 'a leaf')
      expect(same(rootFromInclusion({ index, size, leaf, path: altered }), rootAt(size))).toBe(false)

      const from = 1 + (someIndex % (size - 1))
      const proof = consistencyRanges(from, size).map(merkleTreeHash)
      const atOther = somePlace % proof.length
      const alteredProof = proof.map((hash, k) => (k === atOther ? flipped(hash, someBit) : hash))
      const heads = { earlier: { size: from, root: rootAt(from) }, later: { size, root: rootAt(size) } }
      expect(isConsistent({ ...heads, path: alteredProof })).toBe(false)
    }),
  )
})

describe('tiles', () => {
  // Hashes are cheap enough for a tree of three levels, of which the lowest two have full tiles.
  const many = Array.from({ length: 70_000 }, (_, k) => sha256(`entry ${k}`))
  const all = grow(emptyEdge, many)

  test('a tree of 70,000 has the tiles that C2SP tlog-tiles counts for it', () => {
    const count = (level: number) => all.tiles.filter((tile) => tile.level === level).length
    expect([count(0), count(1), count(2)]).toEqual([273, 1, 0])
    expect(all.edge.levels.map((hashes) => hashes.length)).toEqual([112, 17, 1])
    expect([0, 1, 2].map((level) => widthAt({ level, index: [273, 1, 0][level] ?? 0 }, 70_000))).toEqual([112, 17, 1])
    expect(edgeSlices(70_000)).toEqual([
      { from: 69_888, to: 70_000 },
      { from: 256, to: 273 },
      { from: 0, to: 1 },
    ])
    expect(edgeSlices(256)).toEqual([
      { from: 256, to: 256 },
      { from: 0, to: 1 },
    ])
  })

  test('a tree has the same tiles and root in whatever portions it grew', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 5 }), (portions) => {
        let edge = emptyEdge
        const tiles: FullTile[] = []
        for (const portion of portions) {
          const grown = grow(edge, many.slice(edge.size, edge.size + portion))
          edge = grown.edge
          tiles.push(...grown.tiles)
        }
        const whole = grow(emptyEdge, many.slice(0, edge.size))
        expect(tiles).toEqual(whole.tiles)
        expect(rootOfEdge(edge)).toEqual(rootOf(many.slice(0, edge.size).reduce(addLeaf, emptyFrontier)))
        expect(
          tiles.every(
            (tile, k) => tile.level > 0 || tile.index === tiles.slice(0, k).filter(({ level }) => level === 0).length,
          ),
        ).toBe(true)
      }),
      { numRuns: 20 },
    )
  })

  /** As a store serves them: full tiles, and the rest as far as the size reaches. */
  function tileReader(size: number) {
    const { edge, tiles } = grow(emptyEdge, many.slice(0, size))
    const full = tiles.map(({ level, index, hashes }) => [tileKey({ level, index }), hashes] as const)
    const partial = edge.levels.map((hashes, level) => {
      const index = Math.floor(Math.floor(size / tileWidth ** level) / tileWidth)
      return [tileKey({ level, index }), Buffer.concat(hashes)] as const
    })
    return { tiles: new Map([...full, ...partial]), root: rootOfEdge(edge) }
  }

  test('proofs made of tiles lead to the root, and take few tiles', () => {
    const heads = [257, 511, 512, 65_535, 65_536, 65_537, 70_000].map((size) => ({ size, ...tileReader(size) }))
    for (const { size, root, tiles } of heads) {
      for (const index of [0, 1, 255, 256, Math.floor(size / 2), size - 2, size - 1].filter((index) => index < size)) {
        const ranges = inclusionRanges(index, size)
        expect(tilesOf(ranges).length).toBeLessThanOrEqual(6)
        const path = ranges.map((range) => hashOfRange(range, tiles))
        const leaf = assertPresent(many[index], 'a leaf')
        expect(same(rootFromInclusion({ index, size, leaf, path }), root), `leaf ${index} of ${size}`).toBe(true)
      }
      for (const earlier of heads.filter((head) => head.size <= size)) {
        const path = consistencyRanges(earlier.size, size).map((range) => hashOfRange(range, tiles))
        expect(isConsistent({ earlier, later: { size, root }, path }), `${earlier.size} to ${size}`).toBe(true)
      }
    }
  })

  test('each tile is the roots of the tiles below it', () => {
    const top = all.tiles.find(({ level }) => level === 1)
    const below = all.tiles.filter(({ level }) => level === 0).slice(0, tileWidth)
    expect(splitHashes(top?.hashes ?? Buffer.of()).map((hash) => Buffer.from(hash))).toEqual(
      below.map(({ root }) => Buffer.from(root)),
    )
  })

  test('the path of a tile reads as it is written, and in no other spelling', () => {
    expect(tilePathOf({ level: 0, index: 1_234_067, width: 256 })).toBe('0/x001/x234/067')
    expect(readTilePath('5/x123/x456/078.p/2')).toEqual({ level: 5, index: 123_456_078, width: 2 })
    expect(readTilePath('entries/000.p/255')).toEqual({ level: 'entries', index: 0, width: 255 })
    const index = fc.integer({ min: 0, max: 999_999_999_999_999 })
    const level = fc.oneof(fc.integer({ min: 0, max: 63 }), fc.constant('entries' as const))
    fc.assert(
      fc.property(level, index, fc.integer({ min: 1, max: 256 }), (level, index, width) => {
        expect(readTilePath(tilePathOf({ level, index, width }))).toEqual({ level, index, width })
      }),
    )
    const wrong = [
      '',
      '0',
      '0/0',
      '0/00',
      '0/1000',
      '00/000',
      '64/000',
      '-1/000',
      '0/x000/001',
      '0/001/002',
      '0/x001',
      '0/000.p/0',
      '0/000.p/256',
      '0/000.p/01',
      '0/000/',
      'entries/',
      '0/000.p/1/',
      '0/x001/x002/x003/x004/x005/006',
      '0/０００',
    ]
    expect(wrong.filter((path) => readTilePath(path) !== undefined)).toEqual([])
  })
})

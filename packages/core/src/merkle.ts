import { assert, assertPresent } from './assert.ts'
import { equalBytes } from './bytes.ts'
import { sha256 } from './digest.ts'

/*
 * Implements the Merkle tree of RFC 6962, section 2.1, over leaf hashes (leaf.ts). Sizes and indexes count leaves.
 * Index i is the event at position i + 1. Proofs are lists of leaf ranges, whose hashes tiles.ts finds. Verification
 * uses the algorithms of RFC 9162, which are independent of the code that makes the proofs.
 */

export const emptyRoot: Uint8Array = sha256('')

export const hashBytes = 32

/** The prefix 0x01 prevents an inner node from being presented as a leaf. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  assert(isHash(left) && isHash(right), 'a node is made of two hashes')
  nodeInput.set(left, 1)
  nodeInput.set(right, 1 + hashBytes)
  return sha256(nodeInput)
}

// Buffer that is used for every node, because allocating an array takes as long as the hash.
const nodeInput = Uint8Array.of(1, ...new Uint8Array(2 * hashBytes))

/** Roots of the complete subtrees, the largest first: at most log2(size) + 1. They are enough to add leaves to the tree. */
export interface Frontier {
  readonly size: number
  readonly peaks: readonly Uint8Array[]
}

export const emptyFrontier: Frontier = { size: 0, peaks: [] }

/** Adds a leaf in O(log n). `leaf` is the leaf hash, not the entry. */
export function addLeaf({ size, peaks }: Frontier, leaf: Uint8Array): Frontier {
  const remaining = [...peaks]
  let hash = leaf
  // Works like binary counting: the new subtree merges with each complete subtree of the same size.
  for (let carry = size; carry % 2 === 1; carry = (carry - 1) / 2) hash = nodeHash(lastOf(remaining), hash)
  return { size: size + 1, peaks: [...remaining, hash] }
}

function lastOf(peaks: Uint8Array[]): Uint8Array {
  return assertPresent(peaks.pop(), 'an odd size has a peak to merge with')
}

/** Returns the root of RFC 6962. The root of an empty tree is the hash of the empty text. */
export function rootOf({ peaks }: Pick<Frontier, 'peaks'>): Uint8Array {
  return peaks.length === 0 ? emptyRoot : peaks.reduceRight((right, left) => nodeHash(left, right))
}

/** The hashes must be leaf hashes, or roots of subtrees of equal size. */
export function rootOfHashes(hashes: readonly Uint8Array[]): Uint8Array {
  return rootOf(hashes.reduce(addLeaf, emptyFrontier))
}

/** `from` is included and `to` excluded. */
export interface LeafRange {
  readonly from: number
  readonly to: number
}

/**
 * Returns the subtrees whose roots are the inclusion proof of a leaf, starting with the sibling of the leaf (RFC 6962,
 * 2.1.1).
 */
export function inclusionRanges(index: number, size: number): readonly LeafRange[] {
  assert(isSize(size) && Number.isSafeInteger(index) && index >= 0 && index < size, 'the leaf is in the tree')
  return pathRanges(index, { from: 0, to: size })
}

function pathRanges(index: number, { from, to }: LeafRange): readonly LeafRange[] {
  if (to - from === 1) return []
  const middle = from + splitPoint(to - from)
  const left = { from, to: middle }
  const right = { from: middle, to }
  return index < middle ? [...pathRanges(index, left), right] : [...pathRanges(index, right), left]
}

/**
 * Returns the subtrees whose roots prove that the tree of size `to` begins with the tree of size `from` (RFC 6962,
 * 2.1.2).
 */
export function consistencyRanges(from: number, to: number): readonly LeafRange[] {
  assert(isSize(from) && isSize(to) && from <= to, 'a tree grows from an earlier size to a later one')
  return subproofRanges(from, { from: 0, to }, true)
}

/**
 * `known` is how many leaves of the range are in the earlier tree. `whole` is true if the earlier tree has no other
 * leaves: the verifier then already has the root.
 */
function subproofRanges(known: number, range: LeafRange, whole: boolean): readonly LeafRange[] {
  const { from, to } = range
  if (known === to - from) return whole ? [] : [range]
  const split = splitPoint(to - from)
  const left = { from, to: from + split }
  const right = { from: from + split, to }
  return known <= split
    ? [...subproofRanges(known, left, whole), right]
    : [...subproofRanges(known - split, right, false), left]
}

/**
 * Returns the largest power of two below the number of leaves. Uses a loop, because a logarithm of doubles is wrong
 * near 2^48.
 */
function splitPoint(leaves: number): number {
  let split = 1
  while (split * 2 < leaves) split *= 2
  return split
}

function isSize(size: number): boolean {
  return Number.isSafeInteger(size) && size > 0
}

/** `index` counts from 0, and `path` goes from the leaf to the root. */
export interface InclusionClaim {
  readonly index: number
  readonly size: number
  readonly leaf: Uint8Array
  readonly path: readonly Uint8Array[]
}

/** Undefined if no tree of that size has such a path (RFC 9162, 2.1.3.2). */
export function rootFromInclusion({ index, size, leaf, path }: InclusionClaim): Uint8Array | undefined {
  const fits = isSize(size) && Number.isSafeInteger(index) && index >= 0 && index < size
  if (!fits || ![leaf, ...path].every(isHash)) return undefined
  let [node, last, root] = [index, size - 1, leaf]
  for (const sibling of path) {
    if (last === 0) return undefined
    const isRight = node % 2 === 1 || node === last
    root = isRight ? nodeHash(sibling, root) : nodeHash(root, sibling)
    ;[node, last] = isRight ? parentWithSibling(node, last) : [half(node), half(last)]
  }
  return last === 0 ? root : undefined
}

/** On the right edge, a node without a sibling has the hash of its parent, so the loop moves up to the next right child. */
function parentWithSibling(node: number, last: number): [number, number] {
  let [up, upLast] = [node, last]
  while (up % 2 === 0 && up !== 0) [up, upLast] = [half(up), half(upLast)]
  return [half(up), half(upLast)]
}

function half(value: number): number {
  return Math.floor(value / 2)
}

function isHash(hash: Uint8Array): boolean {
  return hash.length === hashBytes
}

export interface TreeHead {
  readonly size: number
  readonly root: Uint8Array
}

/** `path` is the proof of RFC 9162, section 2.1.4. */
export interface ConsistencyClaim {
  readonly earlier: TreeHead
  readonly later: TreeHead
  readonly path: readonly Uint8Array[]
}

/** True if the later tree is the earlier tree with added leaves (RFC 9162, 2.1.4.2). */
export function isConsistent({ earlier, later, path }: ConsistencyClaim): boolean {
  const hashes = [earlier.root, later.root, ...path]
  if (!isSize(earlier.size) || !isSize(later.size) || earlier.size > later.size || !hashes.every(isHash)) return false
  if (earlier.size === later.size) return path.length === 0 && equalBytes(earlier.root, later.root)
  // Start with the earlier root if its size is a power of two. That tree is then a subtree of the later tree, and the
  // proof omits its root.
  const [seed, ...rest] = isPowerOfTwo(earlier.size) ? [earlier.root, ...path] : path
  if (seed === undefined) return false
  let [node, last] = [earlier.size - 1, later.size - 1]
  while (node % 2 === 1) [node, last] = [half(node), half(last)]
  let [earlierRoot, laterRoot] = [seed, seed]
  for (const hash of rest) {
    if (last === 0) return false
    if (node % 2 === 1 || node === last) {
      ;[earlierRoot, laterRoot] = [nodeHash(hash, earlierRoot), nodeHash(hash, laterRoot)]
      ;[node, last] = parentWithSibling(node, last)
    } else {
      laterRoot = nodeHash(laterRoot, hash)
      ;[node, last] = [half(node), half(last)]
    }
  }
  return last === 0 && equalBytes(earlierRoot, earlier.root) && equalBytes(laterRoot, later.root)
}

function isPowerOfTwo(size: number): boolean {
  return splitPoint(size + 1) === size
}

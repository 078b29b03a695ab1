import { assert } from './assert.ts'
import { concatBytes } from './bytes.ts'
import { sha256 } from './digest.ts'

export interface LeafInput {
  readonly position: number
  readonly recordedAtMs: number
  readonly body: Uint8Array
}

/**
 * Encodes position and recording time as 8-byte big-endian integers, then the body. SQL computes the same entry when it
 * appends.
 */
export function leafEntry({ position, recordedAtMs, body }: LeafInput): Uint8Array {
  assert(Number.isSafeInteger(position) && position > 0, 'positions count from 1')
  const entry = new Uint8Array(16 + body.length)
  const header = new DataView(entry.buffer)
  header.setBigInt64(0, BigInt(position))
  header.setBigInt64(8, BigInt(recordedAtMs))
  entry.set(body, 16)
  return entry
}

/** The prefix 0x00 prevents a leaf from being presented as an inner node (RFC 6962, 2.1). */
export function leafHash(input: LeafInput): Uint8Array {
  return sha256(concatBytes([leafPrefix, leafEntry(input)]))
}

const leafPrefix = Uint8Array.of(0)

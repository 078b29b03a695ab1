import { hash } from 'node:crypto'

/** An event from a source, before any check. */
export interface RawEvent {
  readonly position: number
  readonly recordedAtMs: number
  /** The buffer of the body. The `leafRoom` bytes before the body may be overwritten. */
  readonly bytes: Buffer
  readonly bodyStart: number
  readonly bodyEnd: number
  /** The hash that the source states, with one character per byte. */
  readonly leafHash: string
  /** Columns that repeat the body. Undefined if the source does not have them. */
  readonly columns: EventColumns | undefined
}

export interface EventColumns {
  /** Position of the first event in the same stream. */
  readonly stream: number
  readonly version: number
  readonly kind: string
  readonly schemaVersion: number
  readonly effectiveAtMs: number
  readonly postings: StoredPostings
}

/**
 * Postings as lists of equal length: one debit, one credit and one amount each. Undefined accounts have a number
 * without a row.
 */
export interface StoredPostings {
  readonly debits: readonly (AccountRow | undefined)[]
  readonly credits: readonly (AccountRow | undefined)[]
  readonly amounts: readonly bigint[]
}

/** The account that a posting names by number. */
export interface AccountRow {
  readonly mint: string
  readonly name: string
}

/** Room before the body for the leaf prefix, position and time. */
export const leafRoom = 17
const high = 2 ** 32

/**
 * Leaf hash of RFC 6962, 2.1: sha256(0x00 || position || time in ms || body), with integers of 8 bytes, big-endian. The
 * leaf is built in the body's buffer, which saves a copy of every body.
 */
export function leafHashOf({ position, recordedAtMs, bytes, bodyStart, bodyEnd }: RawEvent): string {
  const start = bodyStart - leafRoom
  // Make the hash wrong if the time has a fraction of a millisecond, because a leaf cannot contain it.
  bytes[start] = Number.isInteger(recordedAtMs) ? 0 : 0xff
  bytes.writeUInt32BE(Math.floor(position / high), start + 1)
  bytes.writeUInt32BE(position % high, start + 5)
  bytes.writeInt32BE(Math.floor(recordedAtMs / high), start + 9)
  bytes.writeUInt32BE(((recordedAtMs % high) + high) % high, start + 13)
  return hash('sha256', bytes.subarray(start, bodyEnd), 'binary')
}

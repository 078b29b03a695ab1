import { hash } from 'node:crypto'

/** An event from a source, before any check. */
export interface RawEvent {
  readonly position: number
  readonly recordedAtMs: number
  /** Buffer that contains the body. The `leafRoom` bytes before the body may be overwritten. */
  readonly bytes: Buffer
  readonly bodyStart: number
  readonly bodyEnd: number
  /** Leaf hash that the source states, as a string with one character per byte. */
  readonly leafHash: string
  /** Columns that repeat members of the body. Undefined for an export, which does not have them. */
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
 * Postings of an event as three lists, which have equal lengths in a valid row. An account is undefined if its number
 * has no row.
 */
export interface StoredPostings {
  readonly debits: readonly (AccountRow | undefined)[]
  readonly credits: readonly (AccountRow | undefined)[]
  readonly amounts: readonly bigint[]
}

export interface AccountRow {
  readonly mint: string
  readonly name: string
}

/** Bytes before the body for the prefix of a leaf: 1 for the type, 8 for the position and 8 for the time. */
export const leafRoom = 17
const high = 2 ** 32

/**
 * Returns the leaf hash of RFC 6962, 2.1: sha256(0x00 || position || time in ms || body). Integers have 8 bytes,
 * big-endian. The leaf is built in the buffer of the body, to avoid a copy.
 */
export function leafHashOf({ position, recordedAtMs, bytes, bodyStart, bodyEnd }: RawEvent): string {
  const start = bodyStart - leafRoom
  // Make the hash invalid if the time has a fraction of a millisecond, because a leaf cannot contain the fraction.
  bytes[start] = Number.isInteger(recordedAtMs) ? 0 : 0xff
  bytes.writeUInt32BE(Math.floor(position / high), start + 1)
  bytes.writeUInt32BE(position % high, start + 5)
  bytes.writeInt32BE(Math.floor(recordedAtMs / high), start + 9)
  bytes.writeUInt32BE(((recordedAtMs % high) + high) % high, start + 13)
  return hash('sha256', bytes.subarray(start, bodyEnd), 'binary')
}

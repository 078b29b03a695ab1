import { hash } from 'node:crypto'

/** An event as a source gives it: nothing of it is believed yet. */
export interface RawEvent {
  readonly position: number
  readonly recordedAtMs: number
  /** The body stands here; `leafRoom` bytes before it may be overwritten. */
  readonly bytes: Buffer
  readonly bodyStart: number
  readonly bodyEnd: number
  /** The hash as the source states it, one character for each byte. */
  readonly leafHash: string
  /** Columns that repeat the body, if the source has them. */
  readonly columns: EventColumns | undefined
}

export interface EventColumns {
  /** Position of the stream's first event. */
  readonly stream: number
  readonly version: number
  readonly kind: string
  readonly schemaVersion: number
  readonly effectiveAtMs: number
  readonly postings: StoredPostings
}

/** One debit, one credit and one amount each; an account whose number has no row is undefined. */
export interface StoredPostings {
  readonly debits: readonly (AccountRow | undefined)[]
  readonly credits: readonly (AccountRow | undefined)[]
  readonly amounts: readonly bigint[]
}

/** The account behind a number. */
export interface AccountRow {
  readonly mint: string
  readonly name: string
}

/** The leaf prefix, position and time stand before the body. */
export const leafRoom = 17
const high = 2 ** 32

/**
 * RFC 6962, 2.1: sha256(0x00 || position || time in ms || body), both integers 8 bytes big-endian. The entry is built around
 * the body where it lies, which saves a copy of the whole ledger.
 */
export function leafHashOf({ position, recordedAtMs, bytes, bodyStart, bodyEnd }: RawEvent): string {
  const start = bodyStart - leafRoom
  // A part of a millisecond has no place in the hash: with one the entry is not a leaf.
  bytes[start] = Number.isInteger(recordedAtMs) ? 0 : 0xff
  bytes.writeUInt32BE(Math.floor(position / high), start + 1)
  bytes.writeUInt32BE(position % high, start + 5)
  bytes.writeInt32BE(Math.floor(recordedAtMs / high), start + 9)
  bytes.writeUInt32BE(((recordedAtMs % high) + high) % high, start + 13)
  return hash('sha256', bytes.subarray(start, bodyEnd), 'binary')
}

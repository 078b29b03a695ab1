import type { CopyBlock } from './copyOut.ts'

/*
 * Reads rows of a binary COPY. Each field has a length of 4 bytes (-1 for null), then its bytes. Fields are read in the
 * order of the query's columns.
 */

// Start of the year 2000 in milliseconds since 1970. Postgres counts microseconds from this time.
const postgresEpochMs = 946_684_800_000
const high = 2 ** 32
const numericDigitBase = 10_000n
const numericNegative = 0x4000
// Result for null, NaN, an infinity or a fraction. It differs from every valid amount, because valid amounts are not
// negative.
const notAnAmount = -1n
// Type numbers (oids) from pg_type.
const [int4Type, numericType] = [23, 1700]
// Bytes before the digits of a numeric: number of digits, weight of the first digit, sign and scale, 2 bytes each.
const numericHeadBytes = 8

/** Calls `onRow` for each row of a copy. The row object is reused, so it is valid only during the call. */
export async function readRows(blocks: AsyncIterable<CopyBlock>, onRow: (row: CopyRow) => void): Promise<void> {
  for await (const block of blocks) readBlock(block, onRow)
}

export function readBlock(block: CopyBlock, onRow: (row: CopyRow) => void): void {
  const row = new CopyRow()
  for (const bytes of block) {
    row.open(bytes)
    onRow(row)
  }
}

/**
 * Reads the fields of one row of a binary COPY in order. One object serves all rows. A number that is null or has
 * another length becomes a value that no valid row has, for example NaN.
 */
export class CopyRow {
  bytes: Buffer = Buffer.alloc(0)
  #at = 0
  /** Offsets of the last field that was read: `start` is inclusive, and `end` is exclusive. */
  start = 0
  end = 0

  open(bytes: Buffer): void {
    this.bytes = bytes
    this.#at = columnCountBytes
  }

  /** Moves to the next field. False if the field is null. */
  next(): boolean {
    const length = this.bytes.readInt32BE(this.#at)
    this.start = this.#at + 4
    this.end = this.start + Math.max(length, 0)
    this.#at = this.end
    return length >= 0
  }

  boolean(): boolean | undefined {
    return this.#has(1) ? this.bytes[this.start] === 1 : undefined
  }

  int16(): number {
    return this.#has(2) ? this.bytes.readInt16BE(this.start) : Number.NaN
  }

  int32(): number {
    return this.#has(4) ? this.bytes.readInt32BE(this.start) : Number.NaN
  }

  int64(): number {
    return this.#has(8) ? this.#int64At(this.start) : Number.NaN
  }

  /**
   * Reads a time in milliseconds since 1970. `infinity` becomes a time outside of any calendar. Undefined for null or
   * another length.
   */
  timeMs(): number | undefined {
    return this.#has(8) ? this.#int64At(this.start) / 1000 + postgresEpochMs : undefined
  }

  text(): string | undefined {
    return this.next() ? this.bytes.toString('utf8', this.start, this.end) : undefined
  }

  /** Reads a hash or a name as Latin-1. Valid names are ASCII, and an invalid name only has to differ from them. */
  latin1(): string {
    if (!this.next()) return '(null)'
    return this.bytes.toString('latin1', this.start, this.end)
  }

  /** Reads bytes. Empty for null. */
  blob(): Buffer {
    this.next()
    return this.bytes.subarray(this.start, this.end)
  }

  /** Reads a numeric without a fraction. -1n for null and for any other numeric. */
  numeric(): bigint {
    return this.next() ? this.#numericAt(this.start) : notAnAmount
  }

  /**
   * Reads an array of int4 with one dimension, and converts each element with `as`. Empty for null and for any other
   * array.
   */
  int32s<T>(as: (value: number) => T): readonly T[] {
    const values: T[] = []
    let at = this.#firstElement(int4Type)
    for (; at < this.end; at += 4 + elementBytes) values.push(as(this.bytes.readInt32BE(at + 4)))
    return values
  }

  /** Reads an array of numerics with one dimension. Empty for null and for any other array. */
  numerics(): readonly bigint[] {
    const values: bigint[] = []
    for (let at = this.#firstElement(numericType); at < this.end; at += 4 + this.bytes.readInt32BE(at)) {
      values.push(this.#numericAt(at + 4))
    }
    return values
  }

  /** Returns the offset of the first element of an array. For null and an empty array, the end of the field. */
  #firstElement(elementType: number): number {
    if (!this.next() || this.end - this.start < arrayHeadBytes) return this.end
    const [dimensions, nulls, type, , firstIndex] = [0, 4, 8, 12, 16].map((at) =>
      this.bytes.readInt32BE(this.start + at),
    )
    // Accept only arrays with one dimension, a lower bound of 1, and no nulls, as an append writes them. Any other
    // array reads as empty.
    const isPlain = dimensions === 1 && nulls === 0 && type === elementType && firstIndex === 1
    return isPlain ? this.start + arrayHeadBytes : this.end
  }

  #numericAt(start: number): bigint {
    const { bytes } = this
    const digits = bytes.readInt16BE(start)
    const weight = bytes.readInt16BE(start + 2)
    const sign = bytes.readUInt16BE(start + 4)
    const isNegative = sign === numericNegative
    // Reject NaN, infinities and fractions. Postgres omits trailing zeros, so only a fraction has more digits than its
    // weight allows.
    if ((sign !== 0 && !isNegative) || digits > weight + 1) return notAnAmount
    let value = 0n
    for (let index = 0; index <= weight; index++) {
      const digit = index < digits ? bytes.readInt16BE(start + numericHeadBytes + 2 * index) : 0
      value = value * numericDigitBase + BigInt(digit)
    }
    return isNegative ? -value : value
  }

  #has(length: number): boolean {
    return this.next() && this.end - this.start === length
  }

  #int64At(at: number): number {
    return this.bytes.readInt32BE(at) * high + this.bytes.readUInt32BE(at + 4)
  }
}

// Bytes of the column count at the start of a row.
const columnCountBytes = 2
// Bytes of an array's header: dimensions, null flag and element type, then the length and lower bound of the only
// dimension.
const arrayHeadBytes = 20
// Bytes of an array element of type int4. The 4 bytes of its length are not included.
const elementBytes = 4

/*
 * Fields of one row of a binary COPY: for each a length of 4 bytes, -1 for null, then its bytes. A reader walks them in
 * their order, which is that of the query.
 */

// Postgres counts microseconds from the year 2000.
const postgresEpochMs = 946_684_800_000
const high = 2 ** 32
const numericDigitBase = 10_000n
const numericNegative = 0x4000
// Before the digits of a numeric: how many, the weight of the first, the sign, the scale.
const numericHeadBytes = 8

export class CopyRow {
  bytes: Buffer = Buffer.alloc(0)
  #at = 0
  /** Of the field that was read last. */
  start = 0
  end = 0

  /** Stands before the first field. */
  open(bytes: Buffer, start: number): void {
    this.bytes = bytes
    this.#at = start + 2
  }

  /** False for null. */
  next(): boolean {
    const length = this.bytes.readInt32BE(this.#at)
    this.start = this.#at + 4
    this.end = this.start + Math.max(length, 0)
    this.#at = this.end
    return length >= 0
  }

  boolean(): boolean {
    this.next()
    return this.bytes[this.start] === 1
  }

  int16(): number {
    this.next()
    return this.bytes.readInt16BE(this.start)
  }

  int32(): number {
    this.next()
    return this.bytes.readInt32BE(this.start)
  }

  int64(): number {
    this.next()
    return this.#int64At(this.start)
  }

  /** In whole milliseconds; -Infinity for `-infinity`, undefined for null. */
  timeMs(): number | undefined {
    if (!this.next()) return undefined
    const microseconds = this.#int64At(this.start)
    // The smallest int64 stands for -infinity.
    return microseconds < -9e18 ? -Infinity : microseconds / 1000 + postgresEpochMs
  }

  text(): string | undefined {
    return this.next() ? this.bytes.toString('utf8', this.start, this.end) : undefined
  }

  /** For names that are ASCII in every true row; in a false one they only have to differ. */
  latin1(): string {
    this.next()
    return this.bytes.toString('latin1', this.start, this.end)
  }

  blob(): Buffer {
    this.next()
    return this.bytes.subarray(this.start, this.end)
  }

  /** An integer of any size. */
  numeric(): bigint {
    this.next()
    const digits = this.bytes.readInt16BE(this.start)
    const weight = this.bytes.readInt16BE(this.start + 2)
    let value = 0n
    for (let index = 0; index <= weight; index++) {
      const digit = index < digits ? this.bytes.readInt16BE(this.start + numericHeadBytes + 2 * index) : 0
      value = value * numericDigitBase + BigInt(digit)
    }
    return this.bytes.readUInt16BE(this.start + 4) === numericNegative ? -value : value
  }

  /** One dimension of int8, as an array without nulls comes. */
  int64s(): readonly number[] {
    this.next()
    const dimensions = this.bytes.readInt32BE(this.start)
    if (dimensions !== 1) return []
    const count = this.bytes.readInt32BE(this.start + arrayCountAt)
    const firstAt = this.start + arrayHeadBytes
    return Array.from({ length: count }, (_, index) => this.#int64At(firstAt + index * (4 + 8) + 4))
  }

  #int64At(at: number): number {
    return this.bytes.readInt32BE(at) * high + this.bytes.readUInt32BE(at + 4)
  }
}

// Dimensions, null flag, element type, then for the one dimension its count and lower bound.
const arrayCountAt = 12
const arrayHeadBytes = 20

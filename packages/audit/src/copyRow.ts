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

/** Reads the fields of one row of a binary `copy` in their order, without an object for each row. */
export class CopyRow {
  bytes: Buffer = Buffer.alloc(0)
  #at = 0
  /** Start of the field that was read last. */
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

  /** Undefined for null. */
  optionalInt64(): number | undefined {
    return this.next() ? this.#int64At(this.start) : undefined
  }

  /** Milliseconds since 1970; -Infinity for `-infinity`, undefined for null. */
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
    return this.#numericAt(this.start)
  }

  /** One dimension of int4; empty for null. */
  int32s<T>(as: (value: number) => T): readonly T[] {
    const values: T[] = []
    let at = this.#firstElement()
    for (; at < this.end; at += 4 + elementBytes) values.push(as(this.bytes.readInt32BE(at + 4)))
    return values
  }

  /** One dimension of numeric integers; empty for null. */
  numerics(): readonly bigint[] {
    const values: bigint[] = []
    for (let at = this.#firstElement(); at < this.end; at += 4 + this.bytes.readInt32BE(at)) {
      values.push(this.#numericAt(at + 4))
    }
    return values
  }

  /** A multirange of int8 in its canonical form, [from, to): from and behind to in turn. */
  int64Ranges(): readonly number[] {
    this.next()
    const count = this.bytes.readInt32BE(this.start)
    const bounds: number[] = []
    let at = this.start + 4
    for (let index = 0; index < count; index++) {
      const length = this.bytes.readInt32BE(at)
      // Flags, then each bound with its length in front. A range of any other shape differs.
      const isPlain = length === plainRangeBytes && this.bytes[at + 4] === lowerInclusive
      bounds.push(isPlain ? this.#int64At(at + 9) : -1, isPlain ? this.#int64At(at + 21) : -1)
      at += 4 + length
    }
    return bounds
  }

  /** The first element of an array, with its length in front; the end of the field for null and an empty array. */
  #firstElement(): number {
    // One dimension, no nulls: any other array is not one that an append writes, and reads as empty.
    const isPlain =
      this.next() && this.bytes.readInt32BE(this.start) === 1 && this.bytes.readInt32BE(this.start + 4) === 0
    return isPlain ? this.start + arrayHeadBytes : this.end
  }

  #numericAt(start: number): bigint {
    const { bytes } = this
    const digits = bytes.readInt16BE(start)
    const weight = bytes.readInt16BE(start + 2)
    const isNegative = bytes.readUInt16BE(start + 4) === numericNegative
    if (weight <= exactWeightMax) {
      let small = 0
      for (let index = 0; index <= weight; index++) {
        small = small * 10_000 + (index < digits ? bytes.readInt16BE(start + numericHeadBytes + 2 * index) : 0)
      }
      return BigInt(isNegative ? -small : small)
    }
    let value = 0n
    for (let index = 0; index <= weight; index++) {
      const digit = index < digits ? bytes.readInt16BE(start + numericHeadBytes + 2 * index) : 0
      value = value * numericDigitBase + BigInt(digit)
    }
    return isNegative ? -value : value
  }

  #int64At(at: number): number {
    return this.bytes.readInt32BE(at) * high + this.bytes.readUInt32BE(at + 4)
  }
}

// Three groups of four digits are exact in a double.
const exactWeightMax = 2
// A range of int8: one byte of flags, two bounds of 4 + 8.
const plainRangeBytes = 25
const lowerInclusive = 2
// Dimensions, null flag, element type, then for the one dimension its count and lower bound.
const arrayHeadBytes = 20
// Size of an int4.
const elementBytes = 4

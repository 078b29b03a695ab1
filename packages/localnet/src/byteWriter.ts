/** Writes little-endian fields in order; the counterpart of `ByteReader`. Grows by doubling. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(capacityAtFirst)
  #length = 0

  u8(value: number): this {
    const start = this.#reserve(1)
    this.#bytes.writeUInt8(value, start)
    return this
  }

  u16(value: number): this {
    const start = this.#reserve(2)
    this.#bytes.writeUInt16LE(value, start)
    return this
  }

  u32(value: number): this {
    const start = this.#reserve(4)
    this.#bytes.writeUInt32LE(value, start)
    return this
  }

  u64(value: bigint): this {
    const start = this.#reserve(8)
    this.#bytes.writeBigUInt64LE(value, start)
    return this
  }

  raw(bytes: Uint8Array): this {
    const start = this.#reserve(bytes.length)
    this.#bytes.set(bytes, start)
    return this
  }

  /** Writes bytes with their length in front as a u32. */
  sized(bytes: Uint8Array): this {
    return this.u32(bytes.length).raw(bytes)
  }

  text(value: string): this {
    return this.sized(Buffer.from(value, 'utf8'))
  }

  /**
   * Returns a copy in separate memory. Node's pool would put it into an 8 kB slab among short-lived objects. A history
   * of such copies would keep every slab alive: 6.2 kB per transaction instead of 1.5 kB.
   */
  finish(): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(0, this.#length))
  }

  /** Ensures capacity, possibly in another buffer. Call it before using the buffer. */
  #reserve(length: number): number {
    const start = this.#length
    const needed = start + length
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2))
      grown.set(this.#bytes.subarray(0, start))
      this.#bytes = grown
    }
    this.#length = needed
    return start
  }
}

/** Large enough for a typical record (about 2 kB) without growth. */
const capacityAtFirst = 4_096

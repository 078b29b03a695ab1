/** The bytes violate their format. In a request this becomes a refusal; in our own files it becomes a fault. */
export class MalformedBytes extends Error {
  override readonly name = 'MalformedBytes'
}

/** Reads little-endian fields in order. Every read checks the length first, so a short input never reads as zeros. */
export class ByteReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #position = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get position(): number {
    return this.#position
  }

  get remaining(): number {
    return this.#bytes.length - this.#position
  }

  u8(): number {
    return this.#view.getUint8(this.#advance(1))
  }

  u16(): number {
    return this.#view.getUint16(this.#advance(2), true)
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4), true)
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#advance(8), true)
  }

  /** Returns a view, not a copy. */
  take(length: number): Uint8Array {
    const start = this.#advance(length)
    return this.#bytes.subarray(start, start + length)
  }

  /** Reads bytes with their length in front as a u32. */
  sized(): Uint8Array {
    return this.take(this.u32())
  }

  text(): string {
    return Buffer.from(this.sized()).toString('utf8')
  }

  list<T>(length: number, readOne: (reader: this) => T): T[] {
    const items: T[] = []
    for (let index = 0; index < length; index++) items.push(readOne(this))
    return items
  }

  /**
   * Reads Solana's compact-u16: seven bits per byte, low ones first, three bytes at most. Only the shortest encoding is
   * legal. litesvm 1.5.0 aborts the whole process on any other, so this check prevents a crash by a client.
   */
  compactU16(): number {
    let value = 0
    for (let index = 0; index < compactU16BytesMax; index++) {
      const byte = this.u8()
      if (index > 0 && byte === 0) throw new MalformedBytes('a length is not in its shortest form')
      value |= (byte & 0x7f) << (7 * index)
      if ((byte & 0x80) === 0) return checkedU16(value)
    }
    throw new MalformedBytes('a length takes more than three bytes')
  }

  #advance(length: number): number {
    if (length > this.remaining) throw new MalformedBytes(`ends at byte ${this.#bytes.length}, too early`)
    const start = this.#position
    this.#position += length
    return start
  }
}

const compactU16BytesMax = 3

function checkedU16(value: number): number {
  if (value > 0xffff) throw new MalformedBytes('a length is above 65,535')
  return value
}

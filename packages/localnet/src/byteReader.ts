export class MalformedBytes extends Error {
  override readonly name = 'MalformedBytes'
}

/** Every read checks the length first, so that a short input is not read as zeros. */
export class ByteReader {
  readonly #bytes: Uint8Array
  #position = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get position(): number {
    return this.#position
  }

  u8(): number {
    return this.take(1)[0] ?? 0
  }

  /** Returns a view of the input, not a copy. */
  take(length: number): Uint8Array {
    const start = this.#position
    if (start + length > this.#bytes.length) throw new MalformedBytes(`ends at byte ${this.#bytes.length}, too early`)
    this.#position += length
    return this.#bytes.subarray(start, start + length)
  }

  list<T>(length: number, readOne: (reader: this) => T): T[] {
    const items: T[] = []
    for (let index = 0; index < length; index++) items.push(readOne(this))
    return items
  }

  /**
   * Reads a length in Solana's compact-u16: one to three bytes, seven bits per byte, low bits first. Only the shortest
   * encoding is valid, because litesvm 1.5.0 aborts the whole process on any other encoding.
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
}

const compactU16BytesMax = 3

function checkedU16(value: number): number {
  if (value > 0xffff) throw new MalformedBytes('a length is above 65,535')
  return value
}

/*
 * Parses a signed transaction: signatures, then a message of the legacy format or of version 0. The parser follows the
 * public wire format and shares no code with the service that recorded the payment.
 */

export interface ReadInstruction {
  readonly program: number
  readonly accounts: readonly number[]
  readonly data: Buffer
}

export interface ReadTransaction {
  readonly signatures: readonly Buffer[]
  /** The bytes that the signatures cover. */
  readonly message: Buffer
  /** Static keys: first the signers, in the order of the signatures. Excludes keys from lookup tables. */
  readonly keys: readonly Buffer[]
  readonly instructions: readonly ReadInstruction[]
  readonly usesLookupTables: boolean
}

const signatureBytes = 64
const keyBytes = 32
const versionFlag = 0x80

/** Parses the bytes of one transaction. Undefined if the bytes are not exactly one transaction of a known version. */
export function readTransactionBytes(bytes: Buffer): ReadTransaction | undefined {
  const reader = new ByteReader(bytes)
  try {
    const signatures = reader.list(() => reader.take(signatureBytes))
    const message = bytes.subarray(reader.at)
    const first = reader.byte()
    // A first byte with the highest bit is a version, of which only version 0 is known. Otherwise it counts the
    // signers.
    if (first > versionFlag) return undefined
    const signerCount = first === versionFlag ? reader.byte() : first
    // Skip the numbers of read-only accounts.
    reader.take(2)
    const keys = reader.list(() => reader.take(keyBytes))
    reader.take(keyBytes)
    const instructions = reader.list(() => {
      const program = reader.byte()
      const accounts = reader.list(() => reader.byte())
      return { program, accounts, data: reader.take(reader.length()) }
    })
    const lookups = first === versionFlag ? reader.list(() => readLookup(reader)) : []
    const isWhole = reader.isAtEnd && signerCount > 0 && signatures.length === signerCount && keys.length >= signerCount
    return isWhole ? { signatures, message, keys, instructions, usesLookupTables: lookups.length > 0 } : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function readLookup(reader: ByteReader): void {
  reader.take(keyBytes)
  reader.take(reader.length())
  reader.take(reader.length())
}

// Maximum number of items in a list, because a transaction has at most 1,232 bytes.
const listMax = 1_232

class ByteReader {
  readonly #bytes: Buffer
  at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.at === this.#bytes.length
  }

  byte(): number {
    return this.#bytes.readUInt8(this.at++)
  }

  take(count: number): Buffer {
    if (this.at + count > this.#bytes.length) throw new RangeError('the bytes end early')
    this.at += count
    return this.#bytes.subarray(this.at - count, this.at)
  }

  /** Reads a length in Solana's compact-u16: 1 to 3 bytes, seven bits per byte, lowest first. */
  length(): number {
    let value = 0
    for (let shift = 0; shift <= 14; shift += 7) {
      const byte = this.byte()
      value |= (byte & 0x7f) << shift
      if (byte < versionFlag) {
        if (byte === 0 && shift > 0) throw new RangeError('a length is spelled too long')
        return value
      }
    }
    throw new RangeError('a length has at most three bytes')
  }

  list<T>(item: () => T): readonly T[] {
    const count = this.length()
    if (count > listMax) throw new RangeError('a list is longer than a transaction')
    const items: T[] = []
    for (let index = 0; index < count; index++) items.push(item())
    return items
  }
}

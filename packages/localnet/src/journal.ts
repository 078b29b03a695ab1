import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { Fault } from '@tollbook/core/fault'
import { MalformedBytes } from './byteReader.ts'
import { type JournalEntry, decodeJournalEntry, encodeJournalEntry } from './journalEntry.ts'

/**
 * An append-only file of entries: length, checksum, bytes. The operating system has an entry before its operation is
 * answered, so `kill -9` at any moment loses no acknowledged data. A power failure may lose the last seconds: a chain
 * for development does not need an fsync per entry.
 *
 * Calls are synchronous, because an append of 3 kB takes about 10 µs, less than passing it to a thread.
 *
 * The journal is never compacted. It consists mostly of history, which must be kept, so compaction would save a third
 * of the file. It would also add another source of errors after a crash.
 */
export class Journal {
  readonly #file: number
  readonly #path: string
  #length = 0
  #failure: unknown

  constructor(path: string) {
    this.#path = path
    this.#file = openSync(path, 'a+', 0o600)
  }

  /** Offset of the next entry. */
  get length(): number {
    return this.#length
  }

  /** Reads all entries from the start, and truncates an incomplete last entry of a killed process. */
  *recover(): Generator<JournalEntry> {
    const size = fstatSync(this.#file).size
    while (this.#length < size) {
      const payload = this.#readEntry(size)
      if (payload === undefined) break
      this.#length += headerBytes + payload.length
      yield this.#decode(payload)
    }
    ftruncateSync(this.#file, this.#length)
  }

  append(entry: JournalEntry): void {
    this.assertWritable()
    const payload = encodeJournalEntry(entry)
    const bytes = Buffer.allocUnsafe(headerBytes + payload.length)
    bytes.writeUInt32LE(payload.length, 0)
    bytes.writeUInt32LE(crc32(payload), 4)
    bytes.set(payload, headerBytes)
    this.#write(bytes)
    this.#length += bytes.length
  }

  /**
   * Throws after a failed write, such as on a full disk. The engine is then ahead of the file, so no execution may
   * follow.
   */
  assertWritable(): void {
    if (this.#failure === undefined) return
    throw new Fault(`the chain's journal ${this.#path} cannot be written: free some space and start again`, {
      cause: this.#failure,
      retryable: false,
    })
  }

  /** Drops the entries from this position on. */
  truncate(length: number): void {
    this.assertWritable()
    ftruncateSync(this.#file, length)
    this.#length = length
  }

  close(): void {
    fsyncSync(this.#file)
    closeSync(this.#file)
  }

  #write(bytes: Uint8Array): void {
    try {
      for (let written = 0; written < bytes.length;) written += writeSync(this.#file, bytes, written)
    } catch (cause) {
      this.#failure = cause
      this.assertWritable()
    }
  }

  /** Undefined if the file ends within the entry: its process died while writing it, before it answered a client. */
  #readEntry(size: number): Buffer | undefined {
    const start = this.#length
    if (start + headerBytes > size) return undefined
    const header = this.#readAt(start, headerBytes)
    const payloadLength = header.readUInt32LE(0)
    if (start + headerBytes + payloadLength > size) return undefined
    const payload = this.#readAt(start + headerBytes, payloadLength)
    if (crc32(payload) !== header.readUInt32LE(4)) throw this.#damaged(new MalformedBytes('the checksum is wrong'))
    return payload
  }

  #readAt(position: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    const count = readSync(this.#file, bytes, 0, length, position)
    if (count !== length) throw this.#damaged(new MalformedBytes(`only ${count} of ${length} bytes could be read`))
    return bytes
  }

  #decode(payload: Buffer): JournalEntry {
    try {
      return decodeJournalEntry(payload)
    } catch (cause) {
      throw this.#damaged(cause)
    }
  }

  #damaged(cause: unknown): Fault {
    return new Fault(
      `the chain's journal ${this.#path} is damaged at byte ${this.#length}: move its directory away to begin a new chain`,
      { cause, retryable: false },
    )
  }
}

/** Length and checksum, each a u32. */
const headerBytes = 8

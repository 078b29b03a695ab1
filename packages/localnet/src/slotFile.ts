import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'

/**
 * The newest slot, twelve bytes that are written over in place, so that an idle chain does not fill the disk with
 * slots (216,000 a day). One write of twelve bytes is whole or not there, whenever the process dies.
 */
export class SlotFile {
  readonly #file: number
  readonly #bytes = Buffer.alloc(fileBytes)

  constructor(path: string) {
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  }

  /** Undefined for a new file, or one that cannot be trusted; the journal then knows an older slot. */
  read(): number | undefined {
    const bytes = Buffer.alloc(fileBytes)
    const count = readSync(this.#file, bytes, 0, fileBytes, 0)
    if (count !== fileBytes || crc32(bytes.subarray(0, 8)) !== bytes.readUInt32LE(8)) return undefined
    return Number(bytes.readBigUInt64LE(0))
  }

  write(slot: number): void {
    this.#bytes.writeBigUInt64LE(BigInt(slot), 0)
    this.#bytes.writeUInt32LE(crc32(this.#bytes.subarray(0, 8)), 8)
    writeSync(this.#file, this.#bytes, 0, fileBytes, 0)
  }

  close(): void {
    closeSync(this.#file)
  }
}

const fileBytes = 12

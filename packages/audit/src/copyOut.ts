import type pg from 'pg'
import { AuditFault } from './auditFault.ts'

/** A block of consecutive rows of a COPY. */
export interface CopyBlock {
  readonly bytes: Buffer
  /** Start of each row, and the end of the last one. */
  readonly starts: Uint32Array
  readonly count: number
}

// Size of a block: a few hundred rows, because most have about 1 kB. The largest row has 66 kB.
const blockBytes = 512 * 1024
const blockRowsMax = 8_192
// Maximum of blocks that wait for the reader. Beyond it, reading from the server pauses.
const waitingMax = 4
const binaryHeaderBytes = 19
const trailerBytes = 2

/**
 * Reads `COPY … TO STDOUT (FORMAT binary)` through node-postgres as blocks of rows. Rows do not become objects, because
 * for a million rows that would cost more than the audit's own work. A block is valid until the next one is requested.
 */
export class CopyOut implements pg.Submittable {
  readonly #text: string
  readonly #ready: Filling[] = []
  readonly #free: Filling[] = []
  #filling: Filling | undefined
  #connection: pg.Connection | undefined
  #isFirst = true
  #isDone = false
  #error: unknown
  #wake: (() => void) | undefined

  constructor(query: string) {
    this.#text = `copy (${query}) to stdout (format binary)`
  }

  async *blocks(): AsyncGenerator<CopyBlock> {
    while (this.#ready.length > 0 || (this.#error === undefined && !this.#isDone)) {
      const filling = this.#ready.shift()
      if (filling === undefined) {
        await new Promise<void>((resolve) => (this.#wake = resolve))
      } else {
        if (this.#ready.length < waitingMax) this.#connection?.stream.resume()
        yield filling
        filling.count = 0
        this.#free.push(filling)
      }
    }
    if (this.#error !== undefined) throw unreadable(this.#error)
  }

  submit(connection: pg.Connection): void {
    this.#connection = connection
    connection.query(this.#text)
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    const row = this.#isFirst ? chunk.subarray(binaryHeaderBytes) : chunk
    this.#isFirst = false
    // Skip the trailer, a row of -1 columns. If the COPY has no rows, it arrives together with the header.
    if (row.length <= trailerBytes) return
    let filling = this.#filling
    if (filling === undefined || !fits(filling, row)) {
      this.#handOver()
      const free = this.#free.pop()
      filling = free !== undefined && fits(free, row) ? free : newFilling(row.length)
      this.#filling = filling
    }
    const start = filling.starts[filling.count] ?? 0
    row.copy(filling.bytes, start)
    filling.starts[++filling.count] = start + row.length
  }

  handleCommandComplete(): void {
    this.#handOver()
  }

  handleReadyForQuery(): void {
    this.#isDone = true
    this.#wake?.()
  }

  handleError(error: unknown): void {
    this.#error = error ?? new Error('the connection was lost')
    this.#wake?.()
  }

  // The audit does not need the remaining messages of the protocol.
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}

  #handOver(): void {
    if (this.#filling === undefined) return
    this.#ready.push(this.#filling)
    this.#filling = undefined
    if (this.#ready.length >= waitingMax) this.#connection?.stream.pause()
    this.#wake?.()
  }
}

interface Filling extends CopyBlock {
  count: number
}

function newFilling(rowBytes: number): Filling {
  return {
    bytes: Buffer.allocUnsafeSlow(Math.max(blockBytes, rowBytes)),
    starts: new Uint32Array(blockRowsMax + 1),
    count: 0,
  }
}

function fits({ bytes, starts, count }: Filling, row: Buffer): boolean {
  return count < blockRowsMax && (starts[count] ?? 0) + row.length <= bytes.length
}

/** Creates the fault for a ledger that cannot be read: a table or a right is missing, or the connection broke. */
export function unreadable(cause: unknown): AuditFault {
  const why = cause instanceof Error ? `: ${cause.message}` : ''
  return new AuditFault(`the ledger cannot be read${why}`, { cause, retryable: true })
}

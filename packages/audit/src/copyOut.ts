import type pg from 'pg'
import { AuditFault } from './auditFault.ts'

/** Consecutive rows of a COPY, each in the binary format. */
export type CopyBlock = readonly Buffer[]

// A block ends as soon as it has this number of bytes, so that it has hundreds of usual rows.
const blockBytes = 512 * 1024
// Number of waiting blocks at which reading from the server pauses.
const waitingMax = 4
const binaryHeaderBytes = 19
const trailerBytes = 2

/**
 * Reads `COPY … TO STDOUT (FORMAT binary)` through node-postgres as blocks of rows. Rows are not converted to objects,
 * because that would be slow for a large ledger.
 */
export class CopyOut implements pg.Submittable {
  readonly #text: string
  readonly #ready: CopyBlock[] = []
  #rows: Buffer[] = []
  #bytes = 0
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
      const block = this.#ready.shift()
      if (block === undefined) {
        await new Promise<void>((resolve) => (this.#wake = resolve))
      } else {
        if (this.#ready.length < waitingMax) this.#connection?.stream.resume()
        yield block
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
    // Skip the trailer, which is a column count of -1 in two bytes.
    if (row.length <= trailerBytes) return
    // Copy the chunk, because it is a part of the connection's buffer, which later data overwrites.
    this.#rows.push(Buffer.from(row))
    this.#bytes += row.length
    if (this.#bytes >= blockBytes) this.#handOver()
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

  // node-postgres calls these methods for protocol messages that the audit does not need.
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}

  #handOver(): void {
    if (this.#rows.length === 0) return
    this.#ready.push(this.#rows)
    this.#rows = []
    this.#bytes = 0
    if (this.#ready.length >= waitingMax) this.#connection?.stream.pause()
    this.#wake?.()
  }
}

export function unreadable(cause: unknown): AuditFault {
  const why = cause instanceof Error ? `: ${cause.message}` : ''
  return new AuditFault(`the ledger cannot be read${why}`, { cause, retryable: true })
}

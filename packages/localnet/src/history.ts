import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { deserialize, serialize } from 'node:v8'
import { assertPresent } from '@tollbook/core/assert'
import { sha256 } from '@tollbook/core/digest'
import { byteKey, bytesOfKey } from './byteKey.ts'
import { type SqlRow, blobOf, integerOf } from './sqlValue.ts'
import type { TransactionError } from './transactionError.ts'
import { type TransactionRecord, decodeRecord, encodeRecord } from './transactionRecord.ts'

/** `record` decodes the complete record, which most queries do not need. */
export interface HistoryEntry {
  readonly position: number
  readonly signature: Uint8Array
  readonly slot: number
  readonly error: TransactionError | null
  readonly record: () => TransactionRecord
}

/**
 * Also finds transactions by message, because a signer can create a second valid signature of the same message. Like a
 * real node, the chain refuses this duplicate, so that one intent is not executed twice.
 */
export class History {
  readonly #insert: StatementSync
  readonly #mention: StatementSync
  readonly #find: StatementSync
  readonly #record: StatementSync
  readonly #slotOfMessage: StatementSync
  readonly #timeOfSlot: StatementSync
  readonly #count: StatementSync
  readonly #mentioning: StatementSync

  constructor(database: DatabaseSync) {
    const entry = 'select position, signature, slot, error from transactions'
    this.#insert = database.prepare('insert into transactions values (?, ?, ?, ?, ?, ?, ?)')
    this.#mention = database.prepare('insert into mentions values (?, ?)')
    this.#find = database.prepare(`${entry} where signature = ?`)
    this.#record = database.prepare('select record from transactions where position = ?')
    this.#slotOfMessage = database.prepare('select slot from transactions where message_digest = ?')
    this.#timeOfSlot = database.prepare('select block_time_seconds from transactions where slot = ? limit 1')
    this.#count = database.prepare('select count(*) as count from transactions where slot <= ?')
    this.#mentioning = database.prepare(
      `${entry} join mentions using (position) where address = ? order by position desc`,
    )
  }

  append(position: number, record: TransactionRecord): void {
    const { transaction, slot, blockTimeSeconds, outcome } = record
    const signature = assertPresent(transaction.signatures[0], 'a landed transaction is signed')
    const digest = sha256(transaction.messageBytes)
    const error = serialize(outcome.error)
    this.#insert.run(position, slot, blockTimeSeconds, signature, digest, error, encodeRecord(record))
    // Remove duplicates, because a loaded address may also be a static key.
    const addresses = new Set(transaction.keys.map(({ address }) => byteKey(address)))
    for (const key of addresses) this.#mention.run(bytesOfKey(key), position)
  }

  /** Finds the message with any signature. Undefined if it did not land. */
  slotOfMessage(messageBytes: Uint8Array): number | undefined {
    const row = this.#slotOfMessage.get(sha256(messageBytes))
    return row === undefined ? undefined : integerOf(row['slot'])
  }

  /** Undefined if no transaction landed in the slot. */
  timeOfSlotSeconds(slot: number): number | undefined {
    const row = this.#timeOfSlot.get(slot)
    return row === undefined ? undefined : integerOf(row['block_time_seconds'])
  }

  lengthAt(slot: number): number {
    return integerOf(this.#count.get(slot)?.['count'])
  }

  find(signature: Uint8Array): HistoryEntry | undefined {
    const row = this.#find.get(signature)
    return row === undefined ? undefined : this.#entryOf(row)
  }

  /** Yields the newest first. Reads only as many rows as the caller takes. */
  *mentioning(address: Uint8Array): Generator<HistoryEntry> {
    for (const row of this.#mentioning.iterate(address)) yield this.#entryOf(row)
  }

  #entryOf(row: SqlRow): HistoryEntry {
    const position = integerOf(row['position'])
    const record = (): TransactionRecord => decodeRecord(blobOf(this.#record.get(position)?.['record']))
    const error: TransactionError | null = deserialize(blobOf(row['error']))
    return { position, signature: blobOf(row['signature']), slot: integerOf(row['slot']), error, record }
  }
}

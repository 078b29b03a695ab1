import { assert, assertPresent } from '@tollbook/core/assert'
import { sha256 } from '@tollbook/core/digest'
import { byteKey } from './byteKey.ts'
import type { TransactionError } from './transactionError.ts'
import { type TransactionRecord, decodeRecord } from './transactionRecord.ts'

/** Fields that most queries need. The whole record is decoded only on request. */
export interface HistoryEntry {
  readonly signature: Uint8Array
  readonly slot: number
  readonly error: TransactionError | null
  readonly record: () => TransactionRecord
}

/**
 * Every landed transaction, in order. Records stay encoded until a query needs them.
 *
 * The history also finds transactions by message, because a signer can make a second valid signature over one message.
 * Like a real node, the chain refuses the second as a duplicate: otherwise one intent would be executed twice.
 */
export class History {
  readonly #entries: StoredEntry[] = []
  readonly #bySignature = new Map<string, number>()
  readonly #byMessage = new Map<string, number>()
  readonly #byAddress = new Map<string, number[]>()
  readonly #bySlot = new Map<number, number[]>()

  get length(): number {
    return this.#entries.length
  }

  /** Takes the record both decoded and encoded, because the caller has both and conversion is costly. */
  append(record: TransactionRecord, bytes: Uint8Array): void {
    const position = this.#entries.length
    const { signature, message } = keysOf(record)
    assert(!this.#bySignature.has(signature), 'a signature lands once')
    assert((this.#entries.at(-1)?.slot ?? 0) <= record.slot, 'history is in the order of slots')
    this.#entries.push({ slot: record.slot, error: record.outcome.error, bytes })
    this.#bySignature.set(signature, position)
    this.#byMessage.set(message, position)
    for (const key of addressKeysOf(record)) pushInto(this.#byAddress, key, position)
    pushInto(this.#bySlot, record.slot, position)
  }

  /** Returns an independent copy. It shares the records. */
  copy(): History {
    const copy = new History()
    for (const entry of this.#entries) copy.#entries.push(entry)
    for (const [key, position] of this.#bySignature) copy.#bySignature.set(key, position)
    for (const [key, position] of this.#byMessage) copy.#byMessage.set(key, position)
    for (const [key, positions] of this.#byAddress) copy.#byAddress.set(key, [...positions])
    for (const [slot, positions] of this.#bySlot) copy.#bySlot.set(slot, [...positions])
    return copy
  }

  /** The slot in which the message landed, with any signature. */
  slotOfMessage(messageBytes: Uint8Array): number | undefined {
    const position = this.#byMessage.get(byteKey(sha256(messageBytes)))
    return position === undefined ? undefined : this.#entries[position]?.slot
  }

  /** Number of transactions up to the end of the slot. */
  lengthAt(slot: number): number {
    return this.#entries.findLastIndex((entry) => entry.slot <= slot) + 1
  }

  find(signature: Uint8Array): HistoryEntry | undefined {
    const position = this.#bySignature.get(byteKey(signature))
    return position === undefined ? undefined : this.#entryAt(position)
  }

  /** Position of a transaction in the order of landing. Undefined if it never landed. */
  positionOf(signature: Uint8Array): number | undefined {
    return this.#bySignature.get(byteKey(signature))
  }

  inSlot(slot: number): HistoryEntry[] {
    return (this.#bySlot.get(slot) ?? []).map((position) => this.#entryAt(position))
  }

  /** Lists transactions newest first, decoding only as many as the caller takes. */
  *mentioning(address: Uint8Array): Generator<HistoryEntry & { readonly position: number }> {
    const positions = this.#byAddress.get(byteKey(address)) ?? []
    for (let index = positions.length - 1; index >= 0; index--) {
      const position = assertPresent(positions[index], 'the index is within the list')
      yield { ...this.#entryAt(position), position }
    }
  }

  /** Drops the newest entries until `length` are left. */
  truncate(length: number): void {
    while (this.#entries.length > length) {
      const stored = assertPresent(this.#entries.pop(), 'there is an entry to drop')
      const record = decodeRecord(stored.bytes)
      const { signature, message } = keysOf(record)
      this.#bySignature.delete(signature)
      this.#byMessage.delete(message)
      for (const key of addressKeysOf(record)) popFrom(this.#byAddress, key)
      popFrom(this.#bySlot, record.slot)
    }
  }

  #entryAt(position: number): HistoryEntry {
    const { slot, error, bytes } = assertPresent(this.#entries[position], 'an index leads to an entry')
    const record = (): TransactionRecord => decodeRecord(bytes)
    return { signature: signatureIn(bytes), slot, error, record }
  }
}

interface StoredEntry {
  readonly slot: number
  readonly error: TransactionError | null
  readonly bytes: Uint8Array
}

function keysOf({ transaction }: TransactionRecord): { readonly signature: string; readonly message: string } {
  const [signature] = transaction.signatures
  return {
    signature: byteKey(assertPresent(signature, 'a landed transaction is signed')),
    message: byteKey(sha256(transaction.messageBytes)),
  }
}

/** Returns each address once, although a loaded address may also be in the message. */
function addressKeysOf({ transaction }: TransactionRecord): ReadonlySet<string> {
  return new Set(transaction.keys.map(({ address }) => byteKey(address)))
}

/** A record starts with slot, time and length. The wire form follows, and the signature starts at its second byte. */
function signatureIn(record: Uint8Array): Uint8Array {
  return record.subarray(21, 85)
}

function pushInto<K>(lists: Map<K, number[]>, key: K, position: number): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [position])
  else list.push(position)
}

function popFrom<K>(lists: Map<K, number[]>, key: K): void {
  const list = assertPresent(lists.get(key), 'what was indexed can be taken out')
  list.pop()
  if (list.length === 0) lists.delete(key)
}

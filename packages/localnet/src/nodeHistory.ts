import { decodeBase58 } from '@tollbook/core/base58'
import type { Bank } from './bank.ts'
import { byteKey } from './byteKey.ts'
import { claimedError, failedRecord, scaledRecord, withSignature } from './doctoredRecord.ts'
import type { HistoryEntry } from './history.ts'
import type { NodeBehaviour } from './nodeBehaviour.ts'
import { RpcError, rpcErrorCodes } from './rpcError.ts'
import type { Commitment } from './slots.ts'

export interface NodeHistoryDeps {
  readonly bank: Bank
  readonly behaviour: NodeBehaviour
  readonly newestSlot: (commitment: Commitment) => number
  /** Transactions that never landed, but that the node reports as landed, by the `byteKey` of the signature. */
  readonly claimed: ReadonlyMap<string, HistoryEntry>
}

/** Number of recent slots whose statuses need no `searchTransactionHistory`. Older statuses require it. */
const statusCacheSlots = 300

export class NodeHistory {
  readonly #deps: NodeHistoryDeps
  readonly #hidden: ReadonlySet<string>

  constructor(deps: NodeHistoryDeps) {
    this.#deps = deps
    this.#hidden = new Set(deps.behaviour.hide?.map((text) => byteKey(signatureOf(text))))
  }

  find(signature: Uint8Array, commitment: Commitment): HistoryEntry | undefined {
    this.assertStored()
    const entry = this.#read(signature)
    return entry !== undefined && this.#isStored(entry) && this.#hasReached(entry, commitment) ? entry : undefined
  }

  /** Returns a recent status even if the transaction is not stored. */
  findStatus(signature: Uint8Array, searchStored: boolean): HistoryEntry | undefined {
    if (searchStored) this.assertStored()
    const entry = this.#read(signature)
    if (entry === undefined || !this.#hasReached(entry, 'processed')) return undefined
    const isRecent = entry.slot >= this.#deps.newestSlot('processed') - statusCacheSlots
    return isRecent || (searchStored && this.#isStored(entry)) ? entry : undefined
  }

  /** Yields the newest first. */
  *mentioning(address: Uint8Array, commitment: Commitment): Generator<HistoryEntry> {
    for (const entry of this.#deps.bank.history.mentioning(address)) {
      if (this.#isShown(entry) && this.#hasReached(entry, commitment)) yield this.#doctored(entry)
    }
  }

  positionOf(signature: Uint8Array): number | undefined {
    return this.#deps.bank.history.find(signature)?.position
  }

  length(): number {
    return this.#deps.bank.history.lengthAt(this.#deps.newestSlot('processed'))
  }

  assertStored(): void {
    if (this.#deps.behaviour.noHistory !== true) return
    const message = 'Transaction history is not available from this node'
    throw new RpcError(rpcErrorCodes.transactionHistoryNotAvailable, message)
  }

  /** Returns what the node claims. A forged record is used only for a signature that never landed. */
  #read(signature: Uint8Array): HistoryEntry | undefined {
    const { bank, behaviour, claimed } = this.#deps
    if (behaviour.nullAnswers === true || this.#hidden.has(byteKey(signature))) return undefined
    const entry = bank.history.find(signature)
    if (entry !== undefined) return this.#doctored(entry)
    const claim = behaviour.claimSends === true ? claimed.get(byteKey(signature)) : undefined
    if (claim !== undefined) return claim
    const template = behaviour.forge === undefined ? undefined : bank.history.find(signatureOf(behaviour.forge))
    if (template === undefined) return undefined
    return { ...template, signature, record: () => withSignature(template.record(), signature) }
  }

  readonly #isShown = (entry: HistoryEntry): boolean =>
    this.#deps.behaviour.nullAnswers !== true && !this.#hidden.has(byteKey(entry.signature)) && this.#isStored(entry)

  readonly #isStored = ({ slot }: HistoryEntry): boolean => {
    const { behaviour, newestSlot } = this.#deps
    return behaviour.historySlots === undefined || slot > newestSlot('processed') - behaviour.historySlots
  }

  #hasReached({ slot }: HistoryEntry, commitment: Commitment): boolean {
    return slot <= this.#deps.newestSlot(commitment)
  }

  readonly #doctored = (entry: HistoryEntry): HistoryEntry => {
    const { amounts, failRecords } = this.#deps.behaviour
    if (failRecords === true) return { ...entry, error: claimedError, record: () => failedRecord(entry.record()) }
    return amounts === undefined ? entry : { ...entry, record: () => scaledRecord(entry.record(), amounts) }
  }
}

/** Decodes a signature that the schema has already checked. */
function signatureOf(text: string): Uint8Array {
  return decodeBase58(text, 64) ?? new Uint8Array(64)
}

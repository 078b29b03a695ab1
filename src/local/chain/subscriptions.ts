import { encodeBase58 } from '../../primitives/base58.ts'
import type { Json } from '../../primitives/canonicalJson.ts'
import { accountJson } from './accountJson.ts'
import type { Bank, BankListener, Landing } from './bank.ts'
import { byteKey } from './byteKey.ts'
import { matchesFilters } from './programFilter.ts'
import { programBytes } from './programs.ts'
import { type Commitment, slotsUntil } from './slots.ts'
import type { AccountShape, Subscription } from './subscription.ts'
import type { AccountAt, AccountState } from './svm.ts'
import { errorJson } from './transactionMeta.ts'

/** Takes a finished JSON-RPC notification to its client. */
export type Notify = (notification: Json) => void

interface Subscriber {
  readonly id: number
  readonly wanted: Subscription
  readonly notify: Notify
}

/**
 * Who wants to hear what, for all connections. Transactions are remembered until they are final, and told again at each
 * commitment that they reach, to those who wait for that one.
 */
export class Subscriptions implements BankListener {
  readonly #bank: Bank
  readonly #subscribers = new Map<number, Subscriber>()
  #landings: Landing[] = []
  #lastId = 0

  constructor(bank: Bank) {
    this.#bank = bank
    bank.listen(this)
  }

  open(wanted: Subscription, notify: Notify): number {
    this.#lastId += 1
    this.#subscribers.set(this.#lastId, { id: this.#lastId, wanted, notify })
    return this.#lastId
  }

  /** False when there is none of that number (any more). */
  close(id: number): boolean {
    return this.#subscribers.delete(id)
  }

  /** Call it when the client knows its number: a signature that is already settled is told at once. */
  catchUp(id: number): void {
    const subscriber = this.#subscribers.get(id)
    if (subscriber?.wanted.kind !== 'signature') return
    const { signature, commitment } = subscriber.wanted
    const entry = this.#bank.history.find(Buffer.from(signature, 'latin1'))
    if (entry === undefined || entry.slot > this.#bank.slots.at(commitment)) return
    this.#settle(subscriber, { slot: entry.slot, value: { err: errorJson(entry.error) } })
  }

  landed(landing: Landing): void {
    this.#landings.push(landing)
    this.#tellReceived(landing)
    this.#tellTransactions([landing], 'processed')
    this.#tellAccounts([landing], 'processed')
  }

  slotReached(slot: number): void {
    const root = slot - slotsUntil.finalized
    for (const subscriber of this.#subscribers.values()) {
      if (subscriber.wanted.kind === 'slot') send(subscriber, { slot, parent: slot - 1, root })
      if (subscriber.wanted.kind === 'root') send(subscriber, root)
    }
    for (const commitment of ['confirmed', 'finalized'] as const) {
      const reached = this.#landings.filter(({ record }) => record.slot === slot - slotsUntil[commitment])
      if (reached.length === 0) continue
      this.#tellTransactions(reached, commitment)
      this.#tellAccounts(reached, commitment)
    }
    if (this.#landings.length > 0) this.#landings = this.#landings.filter(({ record }) => record.slot > root)
  }

  forkDropped(): void {
    this.#landings = this.#landings.filter(({ signature }) => this.#bank.history.find(signature) !== undefined)
  }

  #tellReceived(landing: Landing): void {
    const key = byteKey(landing.signature)
    for (const subscriber of this.#subscribers.values()) {
      const { wanted } = subscriber
      if (wanted.kind !== 'signature' || !wanted.received || wanted.signature !== key) continue
      send(subscriber, inContext(landing.record.slot, 'receivedSignature'))
    }
  }

  #tellTransactions(landings: readonly Landing[], commitment: Commitment): void {
    for (const { signature, record } of landings) {
      const key = byteKey(signature)
      const mentioned = new Set(record.transaction.keys.map(({ address }) => byteKey(address)))
      const err = errorJson(record.outcome.error)
      const { slot } = record
      for (const subscriber of this.#subscribers.values()) {
        const { wanted } = subscriber
        if (wanted.kind === 'signature' && wanted.commitment === commitment && wanted.signature === key) {
          this.#settle(subscriber, { slot, value: { err } })
        }
        if (wanted.kind !== 'logs' || wanted.commitment !== commitment) continue
        if (wanted.mentions !== undefined && !mentioned.has(wanted.mentions)) continue
        send(subscriber, inContext(slot, { signature: encodeBase58(signature), err, logs: record.outcome.logs }))
      }
    }
  }

  /** Of several changes to an account within what is told at once, only the last one counts. */
  #tellAccounts(landings: readonly Landing[], commitment: Commitment): void {
    const changes = new Map<string, Change>()
    for (const { changed, record } of landings) {
      for (const account of changed) changes.set(byteKey(account.address), { account, slot: record.slot })
    }
    for (const subscriber of this.#subscribers.values()) {
      const { wanted } = subscriber
      if (wanted.kind === 'account' && wanted.commitment === commitment) {
        const change = changes.get(wanted.address)
        if (change !== undefined) send(subscriber, inContext(change.slot, this.#stateJson(change, wanted.style)))
      }
      if (wanted.kind !== 'program' || wanted.commitment !== commitment) continue
      for (const change of changes.values()) {
        const { address, state } = change.account
        if (state === undefined || byteKey(state.owner) !== wanted.program) continue
        if (!matchesFilters(state.data, wanted.filters)) continue
        const value = { pubkey: encodeBase58(address), account: this.#stateJson(change, wanted.style) }
        send(subscriber, inContext(change.slot, value))
      }
    }
  }

  #stateJson({ account }: Change, style: AccountShape): Json {
    return accountJson(account.state ?? closedAccount, { ...style, read: (address) => this.#bank.account(address) })
  }

  /** A signature is told once; the node then closes the subscription by itself, and clients know that. */
  #settle(subscriber: Subscriber, { slot, value }: { readonly slot: number; readonly value: Json }): void {
    this.#subscribers.delete(subscriber.id)
    send(subscriber, inContext(slot, value))
  }
}

interface Change {
  readonly account: AccountAt
  readonly slot: number
}

function send({ id, wanted, notify }: Subscriber, result: Json): void {
  notify({ jsonrpc: '2.0', method: `${wanted.kind}Notification`, params: { result, subscription: id } })
}

function inContext(slot: number, value: Json): Json {
  return { context: { slot }, value }
}

/** What a node tells of an account that is no more. */
const closedAccount: AccountState = {
  lamports: 0n,
  owner: programBytes('system'),
  data: new Uint8Array(),
  executable: false,
}

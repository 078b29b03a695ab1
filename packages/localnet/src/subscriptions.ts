import type { Json } from '@tollbook/core/canonicalJson'
import { accountJson } from './accountJson.ts'
import type { Bank, BankListener, Landing } from './bank.ts'
import { byteKey, bytesOfKey } from './byteKey.ts'
import { programBytes } from './programs.ts'
import { type Commitment, slotsUntil } from './slots.ts'
import type { AccountShape, Subscription } from './subscription.ts'
import type { AccountAt, AccountState } from './svm.ts'
import { errorJson } from './transactionMeta.ts'

/** Sends a finished JSON-RPC notification to its client. */
export type Notify = (notification: Json) => void

interface Subscriber {
  readonly id: number
  readonly wanted: Subscription
  readonly notify: Notify
}

/** Accounts of a transaction, sent again at each commitment that it reaches. The history has its encoded record. */
interface Unsettled {
  readonly signature: Uint8Array
  readonly slot: number
  readonly changed: readonly AccountAt[]
}

/**
 * Subscribers of all connections. New states of accounts are kept until their transaction is final. At 800 transactions
 * a second these are about 10,000, so no decoded records are kept.
 */
export class Subscriptions implements BankListener {
  readonly #bank: Bank
  readonly #subscribers = new Map<number, Subscriber>()
  #unsettled: Unsettled[] = []
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

  /** False if no open subscription has this number. */
  close(id: number): boolean {
    return this.#subscribers.delete(id)
  }

  /** Call this after the client has the number, because a settled signature is notified immediately. */
  catchUp(id: number): void {
    const subscriber = this.#subscribers.get(id)
    if (subscriber !== undefined) this.#settleIfReached(subscriber)
  }

  landed({ signature, record, changed }: Landing): void {
    const { slot } = record
    this.#unsettled.push({ signature, slot, changed })
    this.#tellReceived(byteKey(signature), slot)
    this.#settleSignatures('processed')
    this.#tellAccounts([{ slot, changed }], 'processed')
  }

  slotReached(slot: number): void {
    const root = slot - slotsUntil.finalized
    for (const subscriber of this.#subscribers.values()) {
      if (subscriber.wanted.kind === 'slot') send(subscriber, { slot, parent: slot - 1, root })
    }
    for (const commitment of ['confirmed', 'finalized'] as const) {
      this.#settleSignatures(commitment)
      const reached = this.#unsettled.filter((each) => each.slot === slot - slotsUntil[commitment])
      if (reached.length === 0) continue
      this.#tellAccounts(reached, commitment)
    }
    if (this.#unsettled.length > 0) this.#unsettled = this.#unsettled.filter((each) => each.slot > root)
  }

  forkDropped(): void {
    this.#unsettled = this.#unsettled.filter(({ signature }) => this.#bank.history.find(signature) !== undefined)
  }

  #tellReceived(signature: string, slot: number): void {
    for (const subscriber of this.#subscribers.values()) {
      const { wanted } = subscriber
      if (wanted.kind !== 'signature' || !wanted.received || wanted.signature !== signature) continue
      send(subscriber, inContext(slot, 'receivedSignature'))
    }
  }

  #settleSignatures(commitment: Commitment): void {
    for (const subscriber of this.#subscribers.values()) {
      const { wanted } = subscriber
      if (wanted.kind === 'signature' && wanted.commitment === commitment) this.#settleIfReached(subscriber)
    }
  }

  /** Sends the notification for a signature once, and closes the subscription, as nodes do. */
  #settleIfReached(subscriber: Subscriber): void {
    const { id, wanted } = subscriber
    if (wanted.kind !== 'signature') return
    const entry = this.#bank.history.find(bytesOfKey(wanted.signature))
    if (entry === undefined || entry.slot > this.#bank.slots.at(wanted.commitment)) return
    this.#subscribers.delete(id)
    send(subscriber, inContext(entry.slot, { err: errorJson(entry.error) }))
  }

  /** Coalesces account notifications: only the last change in each notification is sent. */
  #tellAccounts(landed: readonly Pick<Unsettled, 'slot' | 'changed'>[], commitment: Commitment): void {
    const changes = new Map<string, Change>()
    for (const { changed, slot } of landed) {
      for (const account of changed) changes.set(byteKey(account.address), { account, slot })
    }
    for (const subscriber of this.#subscribers.values()) {
      const { wanted } = subscriber
      if (wanted.kind === 'account' && wanted.commitment === commitment) {
        const change = changes.get(wanted.address)
        if (change !== undefined) send(subscriber, inContext(change.slot, this.#stateJson(change, wanted.style)))
      }
    }
  }

  #stateJson({ account }: Change, style: AccountShape): Json {
    const read = this.#bank.stateAt(this.#bank.slots.current).account
    return accountJson(account.state ?? closedAccount, { ...style, read })
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

/** State in the notification for an account that no longer exists. */
const closedAccount: AccountState = {
  lamports: 0n,
  owner: programBytes('system'),
  data: new Uint8Array(),
  executable: false,
}

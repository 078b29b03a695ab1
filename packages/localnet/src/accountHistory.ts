import { byteKey, bytesOfKey } from './byteKey.ts'
import type { AccountAt, AccountState } from './svm.ts'

/** A change of one account: its state before, and its state at the end of the slot. */
export interface AccountChange {
  readonly slot: number
  readonly address: Uint8Array
  readonly before: AccountState | undefined
  readonly after: AccountState | undefined
}

interface Version {
  readonly slot: number
  readonly state: AccountState | undefined
}

/**
 * States of accounts at earlier slots, because litesvm has only the newest state. An account has one version per slot
 * in which it changed. Versions go once the account's last change is older than the kept slots.
 */
export class AccountHistory {
  /** Ascending by slot. The first version is the state before all recorded changes. */
  readonly #versions = new Map<string, Version[]>()
  readonly #changedIn = new Map<number, Set<string>>()

  /** Returns an independent copy. */
  copy(): AccountHistory {
    const copy = new AccountHistory()
    for (const [key, versions] of this.#versions) copy.#versions.set(key, [...versions])
    for (const [slot, keys] of this.#changedIn) copy.#changedIn.set(slot, new Set(keys))
    return copy
  }

  note({ slot, address, before, after }: AccountChange): void {
    const key = byteKey(address)
    const versions = this.#versions.get(key) ?? [{ slot: beforeAll, state: before }]
    if (versions.at(-1)?.slot === slot) versions.pop()
    versions.push({ slot, state: after })
    this.#versions.set(key, versions)
    const changed = this.#changedIn.get(slot) ?? new Set()
    this.#changedIn.set(slot, changed.add(key))
  }

  /** The newest state if this history has it, which saves a read of the engine. */
  newest(address: Uint8Array): { readonly state: AccountState | undefined } | undefined {
    return this.#versions.get(byteKey(address))?.at(-1)
  }

  /**
   * The state at the end of the slot. Undefined if the history has no change of the account, so that the engine's state
   * applies.
   */
  at(address: Uint8Array, slot: number): { readonly state: AccountState | undefined } | undefined {
    const versions = this.#versions.get(byteKey(address))
    if (versions === undefined) return undefined
    // Use the oldest recorded state for all slots before it. A dropped fork may have removed the earlier states.
    return versions.findLast((version) => version.slot <= slot) ?? versions[0]
  }

  /** Accounts that changed after the slot, each with its state at the end of the slot. */
  changedAfter(slot: number): AccountAt[] {
    const found = new Map<string, AccountAt>()
    for (const [changedSlot, keys] of this.#changedIn) {
      if (changedSlot <= slot) continue
      for (const key of keys) {
        if (found.has(key)) continue
        const address = bytesOfKey(key)
        found.set(key, { address, state: this.at(address, slot)?.state })
      }
    }
    return [...found.values()]
  }

  /** Removes states that only reads before this slot would need. */
  prune(oldestSlot: number): void {
    for (const [slot, keys] of this.#changedIn) {
      // Slots are inserted in ascending order.
      if (slot > oldestSlot) break
      this.#changedIn.delete(slot)
      for (const key of keys) this.#pruneAccount(key, oldestSlot)
    }
  }

  /** Removes the changes of a dropped fork, after the engine has returned to the end of the slot. */
  truncate(slot: number, read: (address: Uint8Array) => AccountState | undefined): void {
    const dropped = [...this.#changedIn].filter(([changedSlot]) => changedSlot >= slot)
    for (const [changedSlot] of dropped) this.#changedIn.delete(changedSlot)
    for (const [, keys] of dropped) {
      for (const key of keys) this.#truncateAccount(key, { slot, state: read(bytesOfKey(key)) })
    }
  }

  #truncateAccount(key: string, last: Version): void {
    const versions = this.#versions.get(key)?.filter((version) => version.slot < last.slot) ?? []
    this.#versions.set(key, [...versions, last])
    const changed = this.#changedIn.get(last.slot) ?? new Set()
    this.#changedIn.set(last.slot, changed.add(key))
  }

  #pruneAccount(key: string, oldestSlot: number): void {
    const versions = this.#versions.get(key) ?? []
    const first = versions.findLastIndex((version) => version.slot <= oldestSlot)
    if (first === versions.length - 1) this.#versions.delete(key)
    else versions.splice(0, first)
  }
}

const beforeAll = -1

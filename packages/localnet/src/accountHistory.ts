import { byteKey, bytesOfKey } from './byteKey.ts'
import type { AccountAt, AccountState } from './svm.ts'

/** A change of one account: what it was before, and what it is at the end of the slot. */
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
 * States of accounts at earlier slots. litesvm has only the newest state, so a read at an older slot is answered from
 * here. An account has one version per slot in which it changed, and none after its last change is older than the slots
 * that are kept.
 */
export class AccountHistory {
  /** Ascending by slot. The first version is the state before all the others. */
  readonly #versions = new Map<string, Version[]>()
  readonly #changedIn = new Map<number, Set<string>>()

  /** An independent copy. */
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

  /** The newest state, if it is known here; a caller saves a read of the engine. */
  newest(address: Uint8Array): { readonly state: AccountState | undefined } | undefined {
    return this.#versions.get(byteKey(address))?.at(-1)
  }

  /** The state at the end of the slot; undefined when the account has not changed since, so that the newest one counts. */
  at(address: Uint8Array, slot: number): { readonly state: AccountState | undefined } | undefined {
    const versions = this.#versions.get(byteKey(address))
    if (versions === undefined) return undefined
    // The oldest known state also stands for the slots before it: after a dropped fork they are no longer known.
    return versions.findLast((version) => version.slot <= slot) ?? versions[0]
  }

  /** Accounts that changed after the slot, each as it was at its end. */
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

  /** States at slots before this one are no longer needed. */
  prune(oldestSlot: number): void {
    for (const [slot, keys] of this.#changedIn) {
      // Slots are inserted in ascending order.
      if (slot > oldestSlot) break
      this.#changedIn.delete(slot)
      for (const key of keys) this.#pruneAccount(key, oldestSlot)
    }
  }

  /** Forgets the changes of a dropped fork: the engine has gone back to the end of the slot. */
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

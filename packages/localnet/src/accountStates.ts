import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { deserialize, serialize } from 'node:v8'
import { type SqlRow, blobOf } from './sqlValue.ts'
import type { AccountAt, AccountState } from './svm.ts'
import { parseTokenAccount } from './tokenAccount.ts'

/** State of an account from this position and slot on. */
export interface AccountVersion extends AccountAt {
  readonly position: number
  readonly slot: number
}

/**
 * Stores every version of an account, because the engine has only the newest states. Unchanged genesis accounts are not
 * stored.
 */
export class AccountStates {
  readonly #insert: StatementSync
  readonly #at: StatementSync
  readonly #newest: StatementSync
  readonly #changedAfter: StatementSync
  readonly #ownedBy: StatementSync
  readonly #all: StatementSync

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare('insert into versions values (?, ?, ?, ?, ?)')
    this.#at = database.prepare(
      'select state from versions where address = ? and slot <= ? order by position desc limit 1',
    )
    this.#newest = database.prepare('select slot from versions where address = ? order by position desc limit 1')
    this.#changedAfter = database.prepare('select distinct address from versions where slot > ?')
    this.#ownedBy = database.prepare('select distinct address from versions where token_owner = ? order by address')
    // With `max`, SQLite returns the other columns of the row that has the maximum.
    this.#all = database.prepare('select address, state, max(position) from versions group by address')
  }

  append({ address, position, slot, state }: AccountVersion): void {
    const tokenOwner = state === undefined ? undefined : parseTokenAccount(state)?.owner
    this.#insert.run(address, position, slot, tokenOwner ?? null, state === undefined ? null : serialize(state))
  }

  /** Returns the slot of the last change. Undefined without a change, for example for a genesis account. */
  changedSlot(address: Uint8Array): number | undefined {
    const slot = this.#newest.get(address)?.['slot']
    return typeof slot === 'number' ? slot : undefined
  }

  /**
   * Returns the newest stored state up to the slot. Undefined if no state was stored by then, or if the account had
   * been closed.
   */
  at(address: Uint8Array, slot: number): AccountState | undefined {
    const row = this.#at.get(address, slot)
    return row === undefined ? undefined : stateIn(row)
  }

  changedAfter(slot: number): Uint8Array[] {
    return this.#changedAfter.all(slot).map((row) => blobOf(row['address']))
  }

  /** Includes accounts that the wallet no longer owns, so callers must check the owner at their slot. */
  tokenAccountsOf(owner: Uint8Array): Uint8Array[] {
    return this.#ownedBy.all(owner).map((row) => blobOf(row['address']))
  }

  all(): AccountAt[] {
    return this.#all.all().map((row) => ({ address: blobOf(row['address']), state: stateIn(row) }))
  }
}

function stateIn(row: SqlRow): AccountState | undefined {
  return row['state'] === null ? undefined : deserialize(blobOf(row['state']))
}

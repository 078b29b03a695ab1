import type { AccountHistory } from './accountHistory.ts'
import { byteKey, sameBytes } from './byteKey.ts'
import type { AccountAt, AccountState, Svm } from './svm.ts'
import { type TokenAccount, parseTokenAccount } from './tokenAccount.ts'
import type { TokenAccountIndex } from './tokenAccountIndex.ts'

export interface BankStateDeps {
  readonly slot: number
  readonly engine: Svm
  readonly older: AccountHistory
  readonly tokenAccounts: TokenAccountIndex
}

/** All accounts as of the end of one slot. */
export interface BankState {
  readonly slot: number
  account(address: Uint8Array): AccountState | undefined
  accountsOwnedBy(program: Uint8Array): readonly AccountAt[]
  /** Sorted by address, so that two nodes with the same accounts return the same order. */
  tokenAccountsOf(owner: Uint8Array): readonly AccountAt[]
}

export function bankStateAt(deps: BankStateDeps): BankState {
  const { slot, engine, older, tokenAccounts } = deps
  const account = (address: Uint8Array): AccountState | undefined => {
    const known = older.at(address, slot)
    return known === undefined ? engine.account(address) : known.state
  }
  return {
    slot,
    account,
    accountsOwnedBy: (program) => accountsOwnedBy(deps, program),
    tokenAccountsOf: (owner) =>
      tokenAccountsAt(deps, {
        account,
        listed: tokenAccounts.ofOwner(owner),
        matches: (at) => sameBytes(at.owner, owner),
      }),
  }
}

function accountsOwnedBy({ slot, engine, older }: BankStateDeps, program: Uint8Array): AccountAt[] {
  const found = new Map(engine.accountsOwnedBy(program).map((account) => [byteKey(account.address), account]))
  for (const account of older.changedAfter(slot)) {
    const key = byteKey(account.address)
    if (account.state !== undefined && sameBytes(account.state.owner, program)) found.set(key, account)
    else found.delete(key)
  }
  return [...found.values()]
}

interface TokenAccountSearch {
  readonly account: BankState['account']
  /** Addresses that the index lists for the newest state. */
  readonly listed: readonly Uint8Array[]
  readonly matches: (account: TokenAccount) => boolean
}

/**
 * The index covers only the newest state. Also check accounts that changed after the slot, because they may have been
 * opened, closed or transferred since.
 */
function tokenAccountsAt({ slot, older }: BankStateDeps, search: TokenAccountSearch): AccountAt[] {
  const candidates = new Map(search.listed.map((address) => [byteKey(address), address]))
  for (const { address } of older.changedAfter(slot)) candidates.set(byteKey(address), address)
  return [...candidates]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, address]) => ({ address, state: search.account(address) }))
    .filter(({ state }) => {
      const account = state === undefined ? undefined : parseTokenAccount(state)
      return account !== undefined && search.matches(account)
    })
}

import type { AccountStates } from './accountStates.ts'
import { byteKey, sameBytes } from './byteKey.ts'
import type { AccountAt, AccountState, Svm } from './svm.ts'
import { parseTokenAccount } from './tokenAccount.ts'

export interface BankStateDeps {
  readonly slot: number
  readonly engine: Svm
  readonly states: AccountStates
}

/** View of all accounts at the end of one slot. */
export interface BankState {
  readonly slot: number
  account(address: Uint8Array): AccountState | undefined
  accountsOwnedBy(program: Uint8Array): readonly AccountAt[]
  /** Returns the accounts sorted by address, so that all nodes return the same order. */
  tokenAccountsOf(owner: Uint8Array): readonly AccountAt[]
}

export function bankStateAt({ slot, engine, states }: BankStateDeps): BankState {
  // Read an older state only if the account changed after the slot, because the engine has the newest states.
  const account = (address: Uint8Array): AccountState | undefined =>
    (states.changedSlot(address) ?? 0) > slot ? states.at(address, slot) : engine.account(address)
  return {
    slot,
    account,
    accountsOwnedBy: (program) => {
      const found = new Map(engine.accountsOwnedBy(program).map((each) => [byteKey(each.address), each]))
      for (const address of states.changedAfter(slot)) {
        const state = states.at(address, slot)
        if (state !== undefined && sameBytes(state.owner, program)) found.set(byteKey(address), { address, state })
        else found.delete(byteKey(address))
      }
      return [...found.values()]
    },
    tokenAccountsOf: (owner) =>
      states
        .tokenAccountsOf(owner)
        .map((address) => ({ address, state: account(address) }))
        .filter(({ state }) => {
          const found = state === undefined ? undefined : parseTokenAccount(state)
          return found !== undefined && sameBytes(found.owner, owner)
        }),
  }
}

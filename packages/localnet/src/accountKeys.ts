import { assertPresent } from '@tollbook/core/assert'
import type { ChainTransaction, Message } from './chainTransaction.ts'
import { isReserved, programNameOf } from './programs.ts'

/** Addresses that a v0 transaction loads from lookup tables, in the order by which instructions index them. */
export interface LoadedAddresses {
  readonly writable: readonly Uint8Array[]
  readonly readonly: readonly Uint8Array[]
}

export interface AccountKey {
  readonly address: Uint8Array
  readonly signer: boolean
  readonly writable: boolean
  readonly source: 'transaction' | 'lookupTable'
}

/** A transaction with its complete list of accounts: static keys, then loaded writable ones, then loaded readonly ones. */
export interface ResolvedTransaction extends ChainTransaction {
  readonly loaded: LoadedAddresses
  readonly keys: readonly AccountKey[]
  /** Positions in `keys` that a top-level instruction calls as a program. */
  readonly invoked: ReadonlySet<number>
}

/** Lists all accounts of the transaction in order: static keys, then loaded writable ones, then loaded readonly ones. */
export function resolveTransaction(transaction: ChainTransaction, loaded: LoadedAddresses): ResolvedTransaction {
  const { message } = transaction
  const invoked = new Set(message.instructions.map((each) => each.programIndex))
  return { ...transaction, loaded, keys: accountKeys(message, { loaded, invoked }), invoked }
}

/** Returns the account at an index. Instructions, including inner ones, refer to accounts by their index in this list. */
export function keyAt(keys: readonly AccountKey[], index: number): AccountKey {
  return assertPresent(keys[index], 'every index was checked when the message was read')
}

interface Context {
  readonly loaded: LoadedAddresses
  readonly invoked: ReadonlySet<number>
}

function accountKeys(message: Message, { loaded, invoked }: Context): AccountKey[] {
  const { requiredSignatures, readonlySigned, readonlyUnsigned } = message.header
  const staticCount = message.staticKeys.length
  // The runtime makes a called program read-only, unless the transaction includes the upgradeable loader.
  const upgrades = message.staticKeys.some((address) => programNameOf(address) === 'upgradeableLoader')
  const statics = message.staticKeys.map((address, index): AccountKey => {
    const signer = index < requiredSignatures
    const declaredWritable = signer
      ? index < requiredSignatures - readonlySigned
      : index < staticCount - readonlyUnsigned
    const demoted = isReserved(address) || (invoked.has(index) && !upgrades)
    return { address, signer, writable: declaredWritable && !demoted, source: 'transaction' }
  })
  const fromTables = (addresses: readonly Uint8Array[], writable: boolean): AccountKey[] =>
    addresses.map((address) => ({ address, signer: false, writable, source: 'lookupTable' }))
  return [...statics, ...fromTables(loaded.writable, true), ...fromTables(loaded.readonly, false)]
}

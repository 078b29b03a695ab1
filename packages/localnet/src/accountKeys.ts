import { assertPresent } from '@tollbook/core/assert'
import type { ChainTransaction, Message } from './chainTransaction.ts'
import { isReserved, programNameOf } from './programs.ts'

/** Addresses that a v0 transaction loads from lookup tables. Instructions index them in this order. */
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

/** `keys` has the order of instruction indexes: static keys, then loaded writable keys, then loaded readonly keys. */
export interface ResolvedTransaction extends ChainTransaction {
  readonly loaded: LoadedAddresses
  readonly keys: readonly AccountKey[]
  /** Indexes in `keys` of the programs that top-level instructions call. */
  readonly invoked: ReadonlySet<number>
}

export function resolveTransaction(transaction: ChainTransaction, loaded: LoadedAddresses): ResolvedTransaction {
  const { message } = transaction
  const invoked = new Set(message.instructions.map((each) => each.programIndex))
  return { ...transaction, loaded, keys: accountKeys(message, { loaded, invoked }), invoked }
}

/** Inner instructions use the same indexes as top-level ones. */
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

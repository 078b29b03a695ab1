import type { LoadedAddresses } from './accountKeys.ts'
import { sameBytes } from './byteKey.ts'
import type { AddressTableLookup, Message } from './chainTransaction.ts'
import { programBytes } from './programs.ts'
import type { AccountState } from './svm.ts'

/** Reasons for a failed lookup, with the names of the runtime's `TransactionError`. */
export type LookupFailure =
  | 'AddressLookupTableNotFound'
  | 'InvalidAddressLookupTableOwner'
  | 'InvalidAddressLookupTableData'
  | 'InvalidAddressLookupTableIndex'

export type ReadAccount = (address: Uint8Array) => AccountState | undefined

/**
 * Resolves the lookups, or returns the error. Does not check whether a table is too new or deactivated, because the
 * runtime resolves the same lookups again and checks this.
 */
export function loadAddresses(message: Message, read: ReadAccount): LoadedAddresses | LookupFailure {
  const writable: Uint8Array[] = []
  const readonly: Uint8Array[] = []
  for (const lookup of message.lookups) {
    const addresses = tableAddresses(lookup, read)
    if (typeof addresses === 'string') return addresses
    if (!pick(addresses, lookup.writableIndexes, writable)) return 'InvalidAddressLookupTableIndex'
    if (!pick(addresses, lookup.readonlyIndexes, readonly)) return 'InvalidAddressLookupTableIndex'
  }
  return { writable, readonly }
}

/**
 * Returns the addresses in the table. The checks have the order of the runtime, so that preflight and simulation return
 * the same error.
 */
function tableAddresses(lookup: AddressTableLookup, read: ReadAccount): readonly Uint8Array[] | LookupFailure {
  const account = read(lookup.table)
  if (account === undefined) return 'AddressLookupTableNotFound'
  if (!sameBytes(account.owner, programBytes('addressLookupTable'))) return 'InvalidAddressLookupTableOwner'
  return addressesIn(account.data) ?? 'InvalidAddressLookupTableData'
}

/** The addresses are views of the data. Undefined if the data is not a lookup table. */
function addressesIn(data: Uint8Array): readonly Uint8Array[] | undefined {
  if (data.length < tableHeaderBytes || (data.length - tableHeaderBytes) % 32 !== 0) return undefined
  if (!sameBytes(data.subarray(0, lookupTableState.length), lookupTableState)) return undefined
  const addresses: Uint8Array[] = []
  for (let start = tableHeaderBytes; start < data.length; start += 32) addresses.push(data.subarray(start, start + 32))
  return addresses
}

function pick(addresses: readonly Uint8Array[], indexes: Uint8Array, into: Uint8Array[]): boolean {
  for (const index of indexes) {
    const address = addresses[index]
    if (address === undefined) return false
    into.push(address)
  }
  return true
}

/** First u32 of the account data, little-endian. 1: an initialized table. 0: not initialized. */
const lookupTableState = Uint8Array.of(1, 0, 0, 0)
/** Bytes before the addresses: state, deactivation slot, last extended slot and index, authority and padding. */
const tableHeaderBytes = 56

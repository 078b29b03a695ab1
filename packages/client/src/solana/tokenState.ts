import { encodeBase58 } from '@tollbook/core/base58'
import type { TransferFee } from '@tollbook/core/transferFee'

/*
 * Reads accounts of the two token programs. A Token-2022 account has the classic layout, then for a mint padding to 165
 * bytes. One byte for the kind of account follows, and a list of extensions: type, length and data. Type and length are
 * little-endian u16.
 */

export interface MintState {
  readonly decimals: number
  readonly transferFee: ScheduledFee | undefined
}

/** `older` applies before `newerEpoch`, and `newer` from that epoch on. */
export interface ScheduledFee {
  readonly older: TransferFee
  readonly newer: TransferFee
  readonly newerEpoch: bigint
}

export function readMintState(data: Uint8Array): MintState | undefined {
  if (data.length < mintBytes || !hasExtensionsOf(data, mintBytes, mintKind)) return undefined
  const fee = findExtension(data, transferFeeConfig)
  const transferFee = fee === undefined ? undefined : readScheduledFee(fee)
  if (fee !== undefined && transferFee === undefined) return undefined
  return { decimals: data[decimalsAt] ?? 0, transferFee }
}

export interface TokenAccountState {
  readonly owner: string
  readonly heldBaseUnits: bigint
  readonly isFrozen: boolean
}

export function readTokenAccountState(data: Uint8Array): TokenAccountState | undefined {
  if (data.length < accountBytes || !hasExtensionsOf(data, accountBytes, accountKind)) return undefined
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  return {
    owner: encodeBase58(data.subarray(ownerAt, ownerAt + 32)),
    heldBaseUnits: view.getBigUint64(amountAt, true),
    isFrozen: data[stateAt] === frozen,
  }
}

const mintBytes = 82
const decimalsAt = 44
const accountBytes = 165
const ownerAt = 32
const amountAt = 64
const stateAt = 108
const frozen = 2
// Length of a multisig account. The token program never gives this length to another account.
const multisigBytes = 355
const mintKind = 1
const accountKind = 2
const transferFeeConfig = 1

function hasExtensionsOf(data: Uint8Array, plainBytes: number, kind: number): boolean {
  if (data.length === plainBytes) return true
  return data.length > accountBytes && data.length !== multisigBytes && data[accountBytes] === kind
}

function findExtension(data: Uint8Array, wanted: number): Uint8Array | undefined {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  for (let at = accountBytes + 1; at + 4 <= data.length;) {
    const [type, length] = [view.getUint16(at, true), view.getUint16(at + 2, true)]
    if (type === wanted) return data.subarray(at + 4, at + 4 + length)
    at += 4 + length
  }
  return undefined
}

const feeBytes = 18
// Offset of the older fee, after two authorities and the withheld amount.
const olderFeeAt = 32 + 32 + 8

function readScheduledFee(data: Uint8Array): ScheduledFee | undefined {
  if (data.length < olderFeeAt + 2 * feeBytes) return undefined
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const feeAt = (at: number): TransferFee => ({
    maximumBaseUnits: view.getBigUint64(at + 8, true),
    basisPoints: view.getUint16(at + 16, true),
  })
  const newerFeeAt = olderFeeAt + feeBytes
  return { older: feeAt(olderFeeAt), newer: feeAt(newerFeeAt), newerEpoch: view.getBigUint64(newerFeeAt, true) }
}

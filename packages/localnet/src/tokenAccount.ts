import { sameBytes } from './byteKey.ts'
import { isTokenProgram, programBytes } from './programs.ts'
import type { AccountState } from './svm.ts'

/*
 * Parses accounts of the SPL token programs. A mint has 82 bytes, and a token account has 165. Token-2022 adds one byte
 * for the kind (mint or account) at offset 165, then the extensions.
 */

export interface TokenAccount {
  readonly mint: Uint8Array
  readonly owner: Uint8Array
  readonly amount: bigint
}

export interface Mint {
  readonly supply: bigint
  readonly decimals: number
}

/** Undefined if the account is not an initialised token account of either token program. */
export function parseTokenAccount(account: AccountState): TokenAccount | undefined {
  const { data } = account
  if (!hasLayout(account, { length: accountLength, kind: accountKind })) return undefined
  // States of a token account: 0 is not initialised, 1 initialised, 2 frozen.
  if (data[108] !== 1 && data[108] !== 2) return undefined
  return { mint: data.subarray(0, 32), owner: data.subarray(32, 64), amount: viewOf(data).getBigUint64(64, true) }
}

/** Undefined if the account is not an initialised mint of either token program. */
export function parseMint(account: AccountState): Mint | undefined {
  const { data } = account
  if (!hasLayout(account, { length: mintLength, kind: mintKind }) || data[45] !== 1) return undefined
  const view = viewOf(data)
  return { supply: view.getBigUint64(36, true), decimals: view.getUint8(44) }
}

interface Layout {
  readonly length: number
  readonly kind: number
}

/** Excludes multisigs by their length of 355 bytes, as the programs do. */
function hasLayout({ data, owner }: AccountState, { length, kind }: Layout): boolean {
  if (!isTokenProgram(owner)) return false
  if (data.length === length) return true
  const extensible = sameBytes(owner, programBytes('token2022')) && data.length !== multisigLength
  return extensible && data.length > kindOffset && data[kindOffset] === kind
}

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength)
}

const mintLength = 82
const accountLength = 165
const multisigLength = 355
const kindOffset = 165
const mintKind = 1
const accountKind = 2

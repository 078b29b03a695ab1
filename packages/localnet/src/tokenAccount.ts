import { sameBytes } from './byteKey.ts'
import { isTokenProgram, programBytes } from './programs.ts'
import type { AccountState } from './svm.ts'

/*
 * The layouts of the SPL token programs: 82 bytes of mint, 165 bytes of account. Token-2022 adds, from byte 165, one
 * byte for the kind (mint or account) and the extensions.
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
  // 0 is an account that was created but not initialised, 1 an initialised and 2 a frozen one.
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

/** True if the account has this layout. Like the programs, excludes multisigs by their length of 355 bytes. */
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

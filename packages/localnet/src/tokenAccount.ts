import { sameBytes } from './byteKey.ts'
import { isTokenProgram, programBytes } from './programs.ts'
import type { AccountState } from './svm.ts'

/*
 * The layouts of the SPL token programs: 82 bytes of mint, 165 bytes of account. Token-2022 adds, from byte 165, one
 * byte for the kind (mint or account) and the extensions (each: type u16, length u16, value).
 */

export interface TokenAccount {
  readonly mint: Uint8Array
  readonly owner: Uint8Array
  readonly amount: bigint
  readonly delegate: Uint8Array | undefined
  readonly state: 'initialized' | 'frozen'
  /** Lamports reserved as rent, for an account of wrapped SOL. */
  readonly nativeReserve: bigint | undefined
  readonly delegatedAmount: bigint
  readonly closeAuthority: Uint8Array | undefined
  readonly extensions: readonly TokenExtension[]
}

export interface Mint {
  readonly mintAuthority: Uint8Array | undefined
  readonly supply: bigint
  readonly decimals: number
  readonly freezeAuthority: Uint8Array | undefined
  readonly extensions: readonly TokenExtension[]
}

export interface TokenExtension {
  readonly type: number
  readonly value: Uint8Array
}

/** Undefined if the account is not an initialised token account of either token program. */
export function parseTokenAccount(account: AccountState): TokenAccount | undefined {
  const { data } = account
  if (!isTokenProgram(account.owner) || !hasLayout(account, { length: accountLength, kind: accountKind })) {
    return undefined
  }
  // 0 is an account that was created but not initialised. The programs also treat it as empty.
  const stateByte = data[108]
  if (stateByte !== 1 && stateByte !== 2) return undefined
  const view = viewOf(data)
  return {
    mint: data.subarray(0, 32),
    owner: data.subarray(32, 64),
    amount: view.getBigUint64(64, true),
    delegate: optionalAddress(data, 72),
    state: stateByte === 1 ? 'initialized' : 'frozen',
    nativeReserve: view.getUint32(109, true) === 1 ? view.getBigUint64(113, true) : undefined,
    delegatedAmount: view.getBigUint64(121, true),
    closeAuthority: optionalAddress(data, 129),
    extensions: parseExtensions(data),
  }
}

/** Undefined if the account is not an initialised mint of either token program. */
export function parseMint(account: AccountState): Mint | undefined {
  const { data } = account
  if (!isTokenProgram(account.owner) || !hasLayout(account, { length: mintLength, kind: mintKind })) return undefined
  if (data[45] !== 1) return undefined
  const view = viewOf(data)
  return {
    mintAuthority: optionalAddress(data, 0),
    supply: view.getBigUint64(36, true),
    decimals: view.getUint8(44),
    freezeAuthority: optionalAddress(data, 46),
    extensions: parseExtensions(data),
  }
}

interface Layout {
  readonly length: number
  readonly kind: number
}

/** True if the account has this layout. Like the programs, excludes multisigs by their length of 355 bytes. */
function hasLayout({ data, owner }: AccountState, { length, kind }: Layout): boolean {
  if (data.length === length) return true
  const extensible = sameBytes(owner, programBytes('token2022')) && data.length !== multisigLength
  return extensible && data.length > kindOffset && data[kindOffset] === kind
}

/** Stops at type 0, where the reserve for later extensions starts, and at malformed data. */
function parseExtensions(data: Uint8Array): TokenExtension[] {
  const extensions: TokenExtension[] = []
  const view = viewOf(data)
  let position = kindOffset + 1
  while (position + extensionHeaderBytes <= data.length) {
    const type = view.getUint16(position, true)
    const end = position + extensionHeaderBytes + view.getUint16(position + 2, true)
    if (type === 0 || end > data.length) break
    extensions.push({ type, value: data.subarray(position + extensionHeaderBytes, end) })
    position = end
  }
  return extensions
}

/** An option in C layout: a u32 as the flag, then the address or zeros. */
function optionalAddress(data: Uint8Array, offset: number): Uint8Array | undefined {
  return data[offset] === 1 ? data.subarray(offset + 4, offset + 36) : undefined
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
const extensionHeaderBytes = 4

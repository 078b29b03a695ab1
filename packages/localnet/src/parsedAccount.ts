import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import { parseAddressLookupTable, type ReadAccount } from './addressLookupTable.ts'
import { programNameOf } from './programs.ts'
import type { AccountState } from './svm.ts'
import { type Mint, type TokenAccount, type TokenExtension, parseMint, parseTokenAccount } from './tokenAccount.ts'
import { tokenAmountJson } from './tokenAmount.ts'
import { extensionJson } from './tokenExtensions.ts'

/*
 * The names are those of Agave's account decoder, because clients depend on them. Missing values are omitted in some
 * places and null in others, as in Agave. Numbers that may exceed a JSON number (u64) are strings.
 */

/** The decoded data of an account. Undefined for an unsupported program, for which the caller sends the bytes. */
export function parsedAccountJson(state: AccountState, read: ReadAccount): Json | undefined {
  const parsed = parse(state, read)
  return parsed === undefined ? undefined : { ...parsed, space: state.data.length }
}

interface Parsed {
  readonly program: string
  readonly parsed: Json
}

function parse(state: AccountState, read: ReadAccount): Parsed | undefined {
  const owner = programNameOf(state.owner)
  if (owner === 'token') return tokenProgramData('spl-token', tokenData(state, read))
  if (owner === 'token2022') return tokenProgramData('spl-token-2022', tokenData(state, read))
  return owner === 'addressLookupTable' ? lookupTableData(state) : undefined
}

/** Both token programs have one layout. Only the label distinguishes them for clients. */
function tokenProgramData(program: string, parsed: Json | undefined): Parsed | undefined {
  return parsed === undefined ? undefined : { program, parsed }
}

function tokenData(state: AccountState, read: ReadAccount): Json | undefined {
  const mint = parseMint(state)
  if (mint !== undefined) return { type: 'mint', info: mintJson(mint) }
  const account = parseTokenAccount(state)
  const mintState = account === undefined ? undefined : read(account.mint)
  // Without the mint the decimals are missing, so the amount cannot be shown. The caller then sends the bytes.
  const decimals = mintState === undefined ? undefined : parseMint(mintState)?.decimals
  if (account === undefined || decimals === undefined) return undefined
  return { type: 'account', info: tokenAccountJson(account, decimals) }
}

function mintJson(mint: Mint): Json {
  return {
    mintAuthority: addressOrNull(mint.mintAuthority),
    supply: mint.supply.toString(),
    decimals: mint.decimals,
    isInitialized: true,
    freezeAuthority: addressOrNull(mint.freezeAuthority),
    ...extensionsJson(mint.extensions),
  }
}

function tokenAccountJson(account: TokenAccount, decimals: number): Json {
  const { delegate, nativeReserve, closeAuthority } = account
  return {
    mint: encodeBase58(account.mint),
    owner: encodeBase58(account.owner),
    tokenAmount: tokenAmountJson(account.amount, decimals),
    state: account.state,
    isNative: nativeReserve !== undefined,
    ...(delegate === undefined
      ? {}
      : { delegate: encodeBase58(delegate), delegatedAmount: tokenAmountJson(account.delegatedAmount, decimals) }),
    ...(nativeReserve === undefined ? {} : { rentExemptReserve: tokenAmountJson(nativeReserve, decimals) }),
    ...(closeAuthority === undefined ? {} : { closeAuthority: encodeBase58(closeAuthority) }),
    ...extensionsJson(account.extensions),
  }
}

function extensionsJson(extensions: readonly TokenExtension[]): { readonly extensions?: Json } {
  return extensions.length === 0 ? {} : { extensions: extensions.map(extensionJson) }
}

function lookupTableData(state: AccountState): Parsed | undefined {
  const table = parseAddressLookupTable(state.data)
  if (table === undefined) return undefined
  const info = {
    deactivationSlot: table.deactivationSlot.toString(),
    lastExtendedSlot: table.lastExtendedSlot.toString(),
    lastExtendedSlotStartIndex: table.lastExtendedStartIndex,
    ...(table.authority === undefined ? {} : { authority: encodeBase58(table.authority) }),
    addresses: table.addresses.map(encodeBase58),
  }
  return { program: 'address-lookup-table', parsed: { type: 'lookupTable', info } }
}

function addressOrNull(address: Uint8Array | undefined): string | null {
  return address === undefined ? null : encodeBase58(address)
}

import { z } from 'zod'
import { assertNever } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import type { ReadAccount } from './addressLookupTable.ts'
import { parsedAccountJson } from './parsedAccount.ts'
import { RpcError, rpcErrorCodes } from './rpcError.ts'
import type { AccountState } from './svm.ts'

const accountEncodings = ['binary', 'base58', 'base64', 'jsonParsed'] as const
export type AccountEncoding = (typeof accountEncodings)[number]

const dataSlice = z.object({ offset: z.number().int().nonnegative(), length: z.number().int().nonnegative() })
export type DataSlice = z.output<typeof dataSlice>

/** Options with which a client requests account data, in reads and in subscriptions. */
export const accountStyleShape = { encoding: z.enum(accountEncodings).nullish(), dataSlice: dataSlice.nullish() }

export interface AccountStyle {
  readonly encoding: AccountEncoding
  readonly dataSlice?: DataSlice | null | undefined
  /** Reads the mint, whose decimals `jsonParsed` needs for a token account. */
  readonly read: ReadAccount
}

/** An account as nodes encode it. Lamports are a JSON number, as in the RPC of Solana. */
export function accountJson(state: AccountState, style: AccountStyle): Json {
  return {
    data: dataJson(state, style),
    executable: state.executable,
    lamports: Number(state.lamports),
    owner: encodeBase58(state.owner),
    // The runtime no longer collects rent, and litesvm returns epoch 0 for every account.
    rentEpoch: 0,
    space: state.data.length,
  }
}

function dataJson(state: AccountState, style: AccountStyle): Json {
  const { encoding } = style
  const data = sliced(state.data, style.dataSlice)
  switch (encoding) {
    case 'binary':
      return shortBase58(data)
    case 'base58':
      return [shortBase58(data), encoding]
    case 'base64':
      return [Buffer.from(data).toString('base64'), encoding]
    case 'jsonParsed':
      return parsedAccountJson(state, style.read) ?? [Buffer.from(data).toString('base64'), 'base64']
    default:
      return assertNever(encoding)
  }
}

/** A slice beyond the end is empty, as on a node. */
function sliced(data: Uint8Array, slice: DataSlice | null | undefined): Uint8Array {
  return slice === null || slice === undefined ? data : data.subarray(slice.offset, slice.offset + slice.length)
}

/** Base58 takes quadratic time, so nodes have this limit, with the same message. */
function shortBase58(data: Uint8Array): string {
  if (data.length <= base58BytesMax) return encodeBase58(data)
  const message = `Encoded binary (base 58) data should be less than ${base58BytesMax} bytes, please use Base64 encoding.`
  throw new RpcError(rpcErrorCodes.invalidRequest, message)
}

const base58BytesMax = 128

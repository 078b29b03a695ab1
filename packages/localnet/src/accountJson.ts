import { z } from 'zod'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import { RpcError, rpcErrorCodes } from './rpcError.ts'
import type { AccountState } from './svm.ts'

/** `jsonParsed` returns base64, as nodes do for programs whose data they do not decode. */
const accountEncodings = ['base58', 'base64', 'jsonParsed'] as const

const dataSlice = z.object({ offset: z.number().int().nonnegative(), length: z.number().int().nonnegative() })

export const accountStyleShape = { encoding: z.enum(accountEncodings).nullish(), dataSlice: dataSlice.nullish() }

/** Without an encoding, nodes return base58 as a bare string. */
export interface AccountStyle {
  readonly encoding?: (typeof accountEncodings)[number] | null | undefined
  readonly dataSlice?: z.output<typeof dataSlice> | null | undefined
}

/** Lamports are a JSON number, as in Solana's RPC. */
export function accountJson(state: AccountState, style: AccountStyle | null | undefined): Json {
  return {
    data: dataJson(state.data, style),
    executable: state.executable,
    lamports: Number(state.lamports),
    owner: encodeBase58(state.owner),
    // The runtime no longer collects rent, and litesvm returns epoch 0 for every account.
    rentEpoch: 0,
    space: state.data.length,
  }
}

function dataJson(whole: Uint8Array, style: AccountStyle | null | undefined): Json {
  const { encoding, dataSlice: slice } = style ?? {}
  // A slice beyond the end is empty, as on a node.
  const data = slice === null || slice === undefined ? whole : whole.subarray(slice.offset, slice.offset + slice.length)
  if (encoding === 'base64' || encoding === 'jsonParsed') return [Buffer.from(data).toString('base64'), 'base64']
  return encoding === 'base58' ? [shortBase58(data), encoding] : shortBase58(data)
}

/** Throws for more than 128 bytes, as nodes do, because base58 takes quadratic time. */
function shortBase58(data: Uint8Array): string {
  if (data.length <= base58BytesMax) return encodeBase58(data)
  const message = `Encoded binary (base 58) data should be less than ${base58BytesMax} bytes, please use Base64 encoding.`
  throw new RpcError(rpcErrorCodes.invalidRequest, message)
}

const base58BytesMax = 128

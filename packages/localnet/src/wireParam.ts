import { base58 } from '@scure/base'
import { MalformedBytes } from './byteReader.ts'
import { type ChainTransaction, parseChainTransaction, transactionBytesMax } from './chainTransaction.ts'
import { invalidParams } from './rpcError.ts'

export const wireEncodings = ['base58', 'base64'] as const
export type WireEncoding = (typeof wireEncodings)[number]

/** Throws an `RpcError` (-32602) if the text is invalid. */
export function readWireParam(text: string, encoding: WireEncoding): ChainTransaction {
  const charactersMax = encodedCharactersMax[encoding]
  if (text.length > charactersMax) {
    throw invalidParams(
      `${encoding} encoded transaction too large: ${text.length} bytes (max: encoded/raw ${charactersMax}/${transactionBytesMax})`,
    )
  }
  return orInvalidParams('invalid transaction', () => {
    const bytes = encoding === 'base64' ? decodeBase64(text) : decodeLongBase58(text)
    if (bytes.length > transactionBytesMax) {
      throw new MalformedBytes(`too large: ${bytes.length} bytes (max: ${transactionBytesMax} bytes)`)
    }
    return parseChainTransaction(bytes)
  })
}

export function orInvalidParams<T>(what: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof MalformedBytes) throw invalidParams(`${what}: ${error.message}`)
    throw error
  }
}

/** Throws for invalid characters, which Node's decoder would skip. */
export function decodeBase64(text: string): Uint8Array {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new MalformedBytes('not base64')
  return Buffer.from(text, 'base64')
}

/** Takes quadratic time, so the caller must check the length first. */
function decodeLongBase58(text: string): Uint8Array {
  if (!/^[1-9A-HJ-NP-Za-km-z]*$/.test(text)) throw new MalformedBytes('not base58')
  return base58.decode(text)
}

/** Maximum characters of an encoded transaction of 1,232 bytes, by encoding. */
const encodedCharactersMax: Readonly<Record<WireEncoding, number>> = { base58: 1_683, base64: 1_644 }

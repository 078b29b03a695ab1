import { assertPresent } from './assert.ts'
import { decodeBase58, encodeBase58 } from './base58.ts'

declare const signatureBrand: unique symbol

/**
 * The id of a Solana transaction: its first signature, 64 bytes. It identifies a payment in every form and spelling.
 * Stored as canonical base58 text, of which there is one for each value.
 */
export type Signature = string & { readonly [signatureBrand]: true }

const byteLength = 64
const charactersMax = 88

/** Parses base58. Undefined for a text that is not 64 bytes, or for 64 zero bytes. */
export function readSignature(text: string): Signature | undefined {
  if (text.length > charactersMax) return undefined
  const bytes = decodeBase58(text, byteLength)
  return bytes === undefined ? undefined : signatureOfBytes(bytes)
}

/** Undefined for a wrong length and for 64 zero bytes, which are an empty signature slot. */
export function signatureOfBytes(bytes: Uint8Array): Signature | undefined {
  if (bytes.length !== byteLength || bytes.every((byte) => byte === 0)) return undefined
  return brand(encodeBase58(bytes))
}

export function signatureBytes(signature: Signature): Uint8Array {
  return assertPresent(decodeBase58(signature, byteLength), 'a signature holds 64 bytes')
}

function brand(text: string): Signature {
  return text as Signature
}

import { assertPresent } from './assert.ts'
import { decodeBase58, encodeBase58 } from './base58.ts'

declare const signatureBrand: unique symbol

/**
 * First signature of a transaction, by which Solana identifies it. Stored as canonical base58, which has one spelling
 * per value.
 */
export type Signature = string & { readonly [signatureBrand]: true }

const byteLength = 64
const charactersMax = 88

/** Undefined unless the text is base58 of 64 bytes that are not all zero. */
export function readSignature(text: string): Signature | undefined {
  if (text.length > charactersMax) return undefined
  const bytes = decodeBase58(text, byteLength)
  return bytes === undefined ? undefined : signatureOfBytes(bytes)
}

/** Undefined for another length, or for 64 zero bytes, which mark a missing signature. */
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

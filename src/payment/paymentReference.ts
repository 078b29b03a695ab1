import { assert, assertPresent } from '@tollbook/core/assert'
import { decodeBase58 } from '@tollbook/core/base58'
import { readSignature, type Signature, signatureOfBytes } from '@tollbook/core/signature'

declare const referenceBrand: unique symbol

/**
 * Single-use key of a payment: the space of a rail and the bytes that are unique in it. The text is one to one with the
 * bytes, for example `solana:<base58 of 64 bytes>`. A Solana signature is one kind of reference.
 */
export type PaymentReference = string & { readonly [referenceBrand]: true }

// First byte of a stream's id in the ledger (migrations/kinds).
export const solanaSpace = 1
const solanaPrefix = 'solana:'
const signatureBytes = 64

export function solanaReference(signature: Signature): PaymentReference {
  return brand(solanaPrefix + signature)
}

/** Undefined for a text that is not a reference in its only spelling. */
export function readReference(text: string): PaymentReference | undefined {
  if (!text.startsWith(solanaPrefix)) return undefined
  const signature = readSignature(text.slice(solanaPrefix.length))
  const reference = signature === undefined ? undefined : solanaReference(signature)
  return reference === text ? reference : undefined
}

/** Undefined for a reference of another space. */
export function signatureOf(reference: PaymentReference): Signature | undefined {
  return reference.startsWith(solanaPrefix) ? readSignature(reference.slice(solanaPrefix.length)) : undefined
}

/** The id of the payment's stream: space byte and key. */
export function streamIdOf(reference: PaymentReference): Uint8Array {
  assert(reference.startsWith(solanaPrefix), 'a payment reference is a Solana signature')
  // The text was read once and is canonical; checking that again took a seventh of a claim's processor time.
  const key = assertPresent(
    decodeBase58(reference.slice(solanaPrefix.length), signatureBytes),
    'a signature has 64 bytes',
  )
  const id = new Uint8Array(1 + signatureBytes)
  id[0] = solanaSpace
  id.set(key, 1)
  return id
}

/** Undefined for the stream of something that is not a payment. */
export function referenceOfStream(id: Uint8Array): PaymentReference | undefined {
  assert(id.length > 1, 'the id of a stream is a space and a key')
  if (id[0] !== solanaSpace) return undefined
  const signature = signatureOfBytes(id.subarray(1))
  return signature === undefined ? undefined : solanaReference(signature)
}

function brand(text: string): PaymentReference {
  return text as PaymentReference
}

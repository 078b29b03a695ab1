import { assert, assertPresent } from '@tollbook/core/assert'
import { decodeBase58 } from '@tollbook/core/base58'
import { readSignature, type Signature, signatureOfBytes } from '@tollbook/core/signature'

declare const referenceBrand: unique symbol

/**
 * Single-use key of a payment: the space of a rail and the bytes that are unique in it. The text is one to one with the
 * bytes, for example `solana:<base58 of 64 bytes>`. A Solana signature is one kind of reference.
 */
export type PaymentReference = string & { readonly [referenceBrand]: true }

declare const messageBrand: unique symbol

/**
 * The message of a payment that the service has to sign as well: `message:<SHA-256 in hex>`. The ledger finds the
 * payment by it. It is not the id of a transaction, so nothing can be looked for on chain by it.
 */
export type MessageReference = string & { readonly [messageBrand]: true }

/** The payment of a proof: its own reference, or its message while its first signature is not known. */
export type PresentedReference = PaymentReference | MessageReference

// First byte of a stream's id in the ledger (migrations/kinds).
export const solanaSpace = 1
// Outside the spaces of streams.
const messageSpace = 255
const solanaPrefix = 'solana:'
const messagePrefix = 'message:'
const digestBytes = 32
const signatureBytes = 64

export function solanaReference(signature: Signature): PaymentReference {
  return brand(solanaPrefix + signature)
}

/** `digest` is the SHA-256 of the message in hex. */
export function messageReference(digest: string): MessageReference {
  assert(digest.length === 2 * digestBytes, 'a digest has 32 bytes')
  return brandMessage(messagePrefix + digest)
}

/** The digest in hex; undefined for a payment whose own reference is known. */
export function messageDigestOf(reference: PresentedReference): string | undefined {
  return isMessage(reference) ? reference.slice(messagePrefix.length) : undefined
}

export function isMessage(reference: PresentedReference): reference is MessageReference {
  return reference.startsWith(messagePrefix)
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

/** The signature of a payment that is known to be one on Solana. */
export function requireSignature(reference: PaymentReference): Signature {
  return assertPresent(signatureOf(reference), 'a payment is made by a Solana transaction')
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

/** Names what was presented, in tables outside the ledger. */
export function presentedIdOf(reference: PresentedReference): Uint8Array {
  if (!isMessage(reference)) return streamIdOf(reference)
  return Uint8Array.of(messageSpace, ...Buffer.from(reference.slice(messagePrefix.length), 'hex'))
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

function brandMessage(text: string): MessageReference {
  return text as MessageReference
}

import { assert, assertPresent } from '@tollbook/core/assert'
import { type Address, readAddress } from '@tollbook/core/address'
import { decodeBase58, encodeBase58 } from '@tollbook/core/base58'
import { readSignature, type Signature, signatureOfBytes } from '@tollbook/core/signature'
import { readTabId, type TabId, tabIdBytes, tabIdOf } from '@tollbook/core/tab'
import { chainName } from '@tollbook/core/networks'

declare const referenceBrand: unique symbol

/**
 * Single-use key of a payment: the prefix of its rail and the unique bytes. Each text has exactly one binary form:
 * `<chain>:<base58 of 64 bytes>` for a transaction, `tab:<tab>:<number>` for a debit of a tab,
 * `arrival:<signature>:<mint>` for a second mint of a transaction. Callers cannot present an `arrival:` reference.
 */
export type PaymentReference = string & { readonly [referenceBrand]: true }

declare const messageBrand: unique symbol

/**
 * The message is not the id of a transaction, so the chain cannot be searched for it, but the ledger can. The text is
 * `message:<SHA-256 in hex>`.
 */
export type MessageReference = string & { readonly [messageBrand]: true }

/** The message identifies the payment while its first signature is unknown. */
export type PresentedReference = PaymentReference | MessageReference

// First byte of the stream id of a payment by a transaction (migrations/kinds).
export const transactionSpace = 1
// First byte for messages. No stream in the ledger uses this value.
const messageSpace = 255
const transactionPrefix = `${chainName}:`
const messagePrefix = 'message:'
const tabRequestSpace = 7
const arrivalSpace = 8
const arrivalPrefix = 'arrival:'
const tabPrefix = 'tab:'
const tabForm = /^tab:([1-9A-HJ-NP-Za-km-z]{16,22}):([1-9]\d{0,19})$/
const numberMax = 2n ** 64n
const digestBytes = 32
const signatureBytes = 64
const mintBytes = 32

export function transactionReference(signature: Signature): PaymentReference {
  return brand(transactionPrefix + signature)
}

export function tabRequestReference(tab: TabId, number: bigint): PaymentReference {
  assert(number > 0n && number < numberMax, 'debits are numbered from 1, in 64 bits')
  return brand(`${tabPrefix}${tab}:${number}`)
}

export function arrivalReference(signature: Signature, mint: Address): PaymentReference {
  return brand(`${arrivalPrefix}${signature}:${mint}`)
}

export function tabRequestOf(reference: string): { readonly tab: TabId; readonly number: bigint } | undefined {
  const [, tab = '', number = ''] = tabForm.exec(reference) ?? []
  return tab === '' ? undefined : { tab, number: BigInt(number) }
}

export function messageReference(digest: string): MessageReference {
  assert(digest.length === 2 * digestBytes, 'a digest has 32 bytes')
  return brandMessage(messagePrefix + digest)
}

export function messageDigestOf(reference: PresentedReference): string | undefined {
  return isMessage(reference) ? reference.slice(messagePrefix.length) : undefined
}

export function isMessage(reference: PresentedReference): reference is MessageReference {
  return reference.startsWith(messagePrefix)
}

/** Reads a reference. Accepts the canonical spelling only, so that one payment has one reference (I1). */
export function readReference(text: string): PaymentReference | undefined {
  const request = tabRequestOf(text)
  if (request !== undefined)
    return readTabId(request.tab) === undefined || request.number >= numberMax ? undefined : brand(text)
  if (!text.startsWith(transactionPrefix)) return undefined
  const signature = readSignature(text.slice(transactionPrefix.length))
  const reference = signature === undefined ? undefined : transactionReference(signature)
  return reference === text ? reference : undefined
}

/** Returns the signature of a payment's transaction. Undefined for a debit of a tab or an arrival. */
export function signatureOf(reference: PaymentReference): Signature | undefined {
  return reference.startsWith(transactionPrefix) ? readSignature(reference.slice(transactionPrefix.length)) : undefined
}

export function requireSignature(reference: PaymentReference): Signature {
  return assertPresent(signatureOf(reference), 'a payment is made by a transaction of the chain')
}

/** Returns the signature in a stream of a transaction, such as a burn. */
export function signatureOfStream(stream: string): Signature {
  return requireSignature(assertPresent(readReference(stream), 'the stream of a transaction has its reference'))
}

/** Returns the stream id: one space byte, then the key, so that payments, debits and arrivals cannot collide. */
export function streamIdOf(reference: PaymentReference): Uint8Array {
  const request = tabRequestOf(reference)
  if (request !== undefined) return tabRequestId(request.tab, request.number)
  if (reference.startsWith(arrivalPrefix)) return arrivalId(reference)
  assert(reference.startsWith(transactionPrefix), 'a payment reference is a signature or a debit of a tab')
  // Do not validate the text a second time: `readReference` did. A second check took a seventh of a claim's processor
  // time.
  const key = assertPresent(
    decodeBase58(reference.slice(transactionPrefix.length), signatureBytes),
    'a signature has 64 bytes',
  )
  const id = new Uint8Array(1 + signatureBytes)
  id[0] = transactionSpace
  id.set(key, 1)
  return id
}

/**
 * Returns the id of a debit: space 7, then the bytes of the tab and the number, so that the debits of one tab are a
 * range of ids.
 */
function tabRequestId(tab: TabId, number: bigint): Uint8Array {
  // A number above 64 bits would wrap, and become the id of another debit.
  assert(number < numberMax, 'the number of a debit has 64 bits')
  const id = new Uint8Array(1 + tabIdBytes + 8)
  id[0] = tabRequestSpace
  id.set(assertPresent(readTabId(tab), 'a debit names a tab'), 1)
  new DataView(id.buffer).setBigUint64(1 + tabIdBytes, number)
  return id
}

function arrivalId(reference: string): Uint8Array {
  const [, signature = '', mint = ''] = reference.split(':')
  const bytes = [decodeBase58(signature, signatureBytes), decodeBase58(mint, mintBytes)]
  return Uint8Array.of(arrivalSpace, ...bytes.flatMap((part) => [...assertPresent(part, 'an arrival has two keys')]))
}

export function presentedIdOf(reference: PresentedReference): Uint8Array {
  if (!isMessage(reference)) return streamIdOf(reference)
  const digest = Buffer.from(reference.slice(messagePrefix.length), 'hex')
  assert(digest.length === digestBytes, 'a message has a digest in hex')
  return Uint8Array.of(messageSpace, ...digest)
}

/** Returns the reference of a stream. Undefined if the stream does not belong to a payment. */
export function referenceOfStream(id: Uint8Array): PaymentReference | undefined {
  assert(id.length > 1, 'the id of a stream is a space and a key')
  if (id[0] === tabRequestSpace) {
    const number = new DataView(id.buffer, id.byteOffset).getBigUint64(1 + tabIdBytes)
    return tabRequestReference(tabIdOf(id.subarray(1)), number)
  }
  if (id[0] === arrivalSpace) {
    const signature = signatureOfBytes(id.subarray(1, 1 + signatureBytes))
    const mint = readAddress(encodeBase58(id.subarray(1 + signatureBytes)))
    return signature === undefined || mint === undefined ? undefined : arrivalReference(signature, mint)
  }
  if (id[0] !== transactionSpace) return undefined
  const signature = signatureOfBytes(id.subarray(1))
  return signature === undefined ? undefined : transactionReference(signature)
}

function brand(text: string): PaymentReference {
  return text as PaymentReference
}

function brandMessage(text: string): MessageReference {
  return text as MessageReference
}

import { base58Of } from './base58Text.ts'

/*
 * The names of streams: in bodies a text, in the table `streams` the byte of a space and a key. Solana's signatures are
 * space 1, so one transaction has one stream whatever it was; settings by number are space 3; decisions about the refund of
 * a payment are space 4, by the payment's signature; plans for holders are space 5, by the digest of the plan.
 */

const solanaSpace = 1
const settingSpace = 3
const refundSpace = 4
const refundPrefix = 'refund:'
const solanaPrefix = 'solana:'
const signatureBytes = 64
const solanaForm = /^solana:[1-9A-HJ-NP-Za-km-z]{64,88}$/

/** Whether the name has the form of a payment, payout or burn. */
export function isSolanaStream(stream: string): boolean {
  return solanaForm.test(stream)
}

export function solanaStream(signature: string): string {
  return solanaPrefix + signature
}

/** The stream of decisions about the refund of a payment. */
export function refundStreamOf(payment: string): string {
  return refundPrefix + signatureOf(payment)
}

/** The signature behind the name, as a node knows it. */
export function signatureOf(stream: string): string {
  return stream.startsWith(solanaPrefix) ? stream.slice(solanaPrefix.length) : stream
}

const holderSpace = 5
const planBytes = 16

/** Undefined for an id that no kind of stream has. */
export function streamOfId(id: Buffer): string | undefined {
  const key = id.subarray(1)
  if (id[0] === solanaSpace && key.length === signatureBytes) return solanaStream(base58Of(key))
  if (id[0] === refundSpace && key.length === signatureBytes) return refundPrefix + base58Of(key)
  if (id[0] === holderSpace && key.length === planBytes) return `holders:payout_${key.toString('hex')}`
  return id[0] === settingSpace ? key.toString('utf8') : undefined
}

import { base58Of } from './base58Text.ts'

/*
 * The names of streams: in bodies a text, in the table `streams` the byte of a space and a key. Solana's signatures are
 * space 1, so one transaction has one stream whatever it was.
 */

const solanaPrefix = 'solana:'
const solanaForm = /^solana:[1-9A-HJ-NP-Za-km-z]{64,88}$/

/** The ids of payments, payouts and burns. */
export const solanaId = {
  space: 1,
  idBytes: 64,
  idPrefix: '',
  isSetting: false,
  nameOf: (key: Buffer): string => solanaStream(base58Of(key)),
}

/** Whether the name has the form of a payment, payout or burn. */
export function isSolanaStream(stream: string): boolean {
  return solanaForm.test(stream)
}

export function solanaStream(signature: string): string {
  return solanaPrefix + signature
}

/** The stream of decisions about the refund of a payment. */
export function refundStreamOf(payment: string): string {
  return `refund:${signatureOf(payment)}`
}

/** The signature behind the name, as a node knows it. */
export function signatureOf(stream: string): string {
  return stream.startsWith(solanaPrefix) ? stream.slice(solanaPrefix.length) : stream
}

import { base58 } from '@scure/base'

/*
 * Names of streams. Bodies have a text, and the table `streams` has the byte of a space and a key. Solana's signatures
 * are space 1, so a transaction has one stream, whatever its kind.
 */

const solanaPrefix = 'solana:'
const solanaForm = /^solana:[1-9A-HJ-NP-Za-km-z]{64,88}$/

/** The form of ids of payments, payouts and burns. */
export const solanaId = {
  space: 1,
  idBytes: 64,
  idPrefix: '',
  isSetting: false,
  nameOf: (key: Buffer): string => solanaStream(base58.encode(key)),
}

/** Returns whether the name has the form of a payment, payout or burn. */
export function isSolanaStream(stream: string): boolean {
  return solanaForm.test(stream)
}

export function solanaStream(signature: string): string {
  return solanaPrefix + signature
}

export function refundStreamOf(payment: string): string {
  return `refund:${signatureOf(payment)}`
}

export const arrivalPrefix = 'arrival:'

export function arrivalStream(signature: string, mint: string): string {
  return `${arrivalPrefix}${signature}:${mint}`
}

/** Returns the signature in the name, in the form that nodes use. */
export function signatureOf(stream: string): string {
  if (stream.startsWith(arrivalPrefix)) return stream.split(':', 2)[1] ?? ''
  return stream.startsWith(solanaPrefix) ? stream.slice(solanaPrefix.length) : stream
}

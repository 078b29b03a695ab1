import { base58 } from '@scure/base'

/*
 * Names of streams. Event bodies use a text. The table `ledger.streams` uses an id: one byte for the space, then a key.
 * A transaction has one stream in space 1. Tokens of a second mint that arrive in it have another stream.
 */

const solanaPrefix = 'solana:'
const solanaForm = /^solana:[1-9A-HJ-NP-Za-km-z]{64,88}$/

/** Payments, payouts and burns share one space, so that a transaction counts as only one of them. */
export const solanaId = {
  space: 1,
  idBytes: 64,
  idPrefix: '',
  isSetting: false,
  nameOf: (key: Buffer): string => solanaStream(base58.encode(key)),
}

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

/** Returns the transaction signature in the name, in base58 as nodes use it. */
export function signatureOf(stream: string): string {
  if (stream.startsWith(arrivalPrefix)) return stream.split(':', 2)[1] ?? ''
  return stream.startsWith(solanaPrefix) ? stream.slice(solanaPrefix.length) : stream
}

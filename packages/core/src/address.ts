import { isBase58Of32Bytes } from './base58.ts'

declare const addressBrand: unique symbol

/** A Solana address, of a wallet, a token account, a mint or a program: canonical base58 of 32 bytes. */
export type Address = string & { readonly [addressBrand]: true }

export function readAddress(text: string): Address | undefined {
  return isAddress(text) ? text : undefined
}

// Needs no second encoding, because base58 of a fixed number of bytes has one spelling per value.
function isAddress(text: string): text is Address {
  return isBase58Of32Bytes(text)
}

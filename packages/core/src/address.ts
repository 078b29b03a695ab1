import { isBase58Of32Bytes } from './base58.ts'

declare const addressBrand: unique symbol

/** A Solana address: canonical base58 of 32 bytes. A wallet, a token account, a mint or a program. */
export type Address = string & { readonly [addressBrand]: true }

export function readAddress(text: string): Address | undefined {
  return isAddress(text) ? text : undefined
}

// Base58 of a fixed length has exactly one spelling per value, so what decodes to 32 bytes is canonical.
function isAddress(text: string): text is Address {
  return isBase58Of32Bytes(text)
}

import { base58 } from '@scure/base'

/*
 * Decoding base58 takes time that grows with the square of the length (16 kB: 173 ms). Functions of this file therefore
 * check the length before they decode.
 */

const charactersMax = 128

/**
 * Encodes with the alphabet of Bitcoin and Solana, without a checksum. Takes quadratic time, so pass only input of
 * bounded length.
 */
export function encodeBase58(bytes: Uint8Array): string {
  return base58.encode(bytes)
}

/** Undefined if the text is not base58, or does not decode to exactly `byteLength` bytes. */
export function decodeBase58(text: string, byteLength: number): Uint8Array | undefined {
  if (text.length < byteLength || text.length > charactersMax || !alphabet.test(text)) return undefined
  const bytes = base58.decode(text)
  return bytes.length === byteLength ? bytes : undefined
}

/** Checks the length first, because decoding takes quadratic time. */
export function isBase58Of32Bytes(text: string): boolean {
  return text.length <= 44 && decodeBase58(text, 32) !== undefined
}

const alphabet = /^[1-9A-HJ-NP-Za-km-z]+$/

import { base58 } from '@scure/base'

/*
 * Base58 has one spelling per byte string, but decoding takes time that grows with the square of the length
 * (16 kB: 173 ms). So every reader of outside text checks the length first; these functions insist on it.
 */

const charactersMax = 128

export function encodeBase58(bytes: Uint8Array): string {
  return base58.encode(bytes)
}

/** Undefined when the text is no base58, or does not decode to exactly that many bytes. */
export function decodeBase58(text: string, byteLength: number): Uint8Array | undefined {
  if (text.length < byteLength || text.length > charactersMax || !alphabet.test(text)) return undefined
  const bytes = base58.decode(text)
  return bytes.length === byteLength ? bytes : undefined
}

const alphabet = /^[1-9A-HJ-NP-Za-km-z]+$/

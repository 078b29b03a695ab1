import { base58 } from '@scure/base'

/*
 * Decoding base58 takes time that grows with the square of the length (16 kB: 173 ms). Every reader of outside text
 * therefore checks the length first, and these functions require it.
 */

const charactersMax = 128

/** The alphabet of Bitcoin and Solana, without a checksum. Takes quadratic time: only for input of bounded length. */
export function encodeBase58(bytes: Uint8Array): string {
  return base58.encode(bytes)
}

/** Undefined if the text is not base58, or does not decode to exactly that many bytes. */
export function decodeBase58(text: string, byteLength: number): Uint8Array | undefined {
  if (text.length < byteLength || text.length > charactersMax || !alphabet.test(text)) return undefined
  const bytes = base58.decode(text)
  return bytes.length === byteLength ? bytes : undefined
}

/** True for the form of every Solana address. Cheap for long texts: it checks the length first. */
export function isBase58Of32Bytes(text: string): boolean {
  return text.length <= 44 && decodeBase58(text, 32) !== undefined
}

/** Decodes the data of an instruction on chain, whose length the chain has limited already. */
export function decodeBase58Data(text: string): Uint8Array | undefined {
  if (text === '') return new Uint8Array()
  return text.length <= dataCharactersMax && alphabet.test(text) ? base58.decode(text) : undefined
}

// A transaction of version 1 has at most 4,096 bytes, which base58 spells with at most 5,600 characters (25 ms).
const dataCharactersMax = 5_600

const alphabet = /^[1-9A-HJ-NP-Za-km-z]+$/

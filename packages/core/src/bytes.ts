import { platform } from '#platform'

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

/** Not constant in time: for hashes and keys that are public. */
export function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false
  return true
}

const encoder = new TextEncoder()

export function utf8Bytes(text: string): Uint8Array {
  return encoder.encode(text)
}

export function toHex(bytes: Uint8Array): string {
  return platform.toHex(bytes)
}

/** Base64 of RFC 4648, section 5, without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return platform.toBase64Url(bytes)
}

import { base64urlnopad, hex } from '@scure/base'
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

/** The time depends on the content, so use it for public hashes and keys only. */
export function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false
  return true
}

const encoder = new TextEncoder()

export function utf8Bytes(text: string): Uint8Array {
  return encoder.encode(text)
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Invalid bytes become the replacement character. */
export function utf8Text(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

export function toHex(bytes: Uint8Array): string {
  return platform.toHex(bytes)
}

export function fromHex(text: string): Uint8Array | undefined {
  return /^([0-9a-fA-F]{2})*$/.test(text) ? hex.decode(text) : undefined
}

/** Writes base64url without padding (RFC 4648, section 5). */
export function toBase64Url(bytes: Uint8Array): string {
  return platform.toBase64Url(bytes)
}

/** Reads base64url without padding. Undefined for any other spelling. */
export function fromBase64Url(text: string): Uint8Array | undefined {
  try {
    return base64urlnopad.decode(text)
  } catch {
    return undefined
  }
}

import { toBase64Url } from './bytes.ts'
import { platform } from '#platform'

export function randomBytesOf(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  platform.fillRandom(bytes)
  return bytes
}

const tokenBytes = 16
// Random bytes for many tokens, because separate calls for the three tokens of a 402 took a tenth of its time.
const pool = new Uint8Array(4_096)
let used = pool.length

/** 128 bits cannot be guessed, and 22 characters of base64url fit into a URL, a header and a memo. */
export function randomToken(): string {
  if (used + tokenBytes > pool.length) {
    platform.fillRandom(pool)
    used = 0
  }
  const token = toBase64Url(pool.subarray(used, used + tokenBytes))
  // Erase the used bytes, because a token may be a secret.
  pool.fill(0, used, used + tokenBytes)
  used += tokenBytes
  return token
}

export function newId(kind: 'quote' | 'request' | 'attempt' | 'instance'): string {
  return `${kind}_${randomToken()}`
}

import { toBase64Url } from './bytes.ts'
import { platform } from '#platform'

/** Secure random bytes. The only source of randomness in the program. */
export function randomBytesOf(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  platform.fillRandom(bytes)
  return bytes
}

const tokenBytes = 16
// One call for 4 kB costs as much as one for 16 bytes, and the three tokens of a 402 take a tenth of its time.
const pool = new Uint8Array(4_096)
let used = pool.length

/** 128 random bits as 22 characters of base64url: unguessable, safe in a URL, a header and a memo. */
export function randomToken(): string {
  if (used + tokenBytes > pool.length) {
    platform.fillRandom(pool)
    used = 0
  }
  const token = toBase64Url(pool.subarray(used, used + tokenBytes))
  // Erase used tokens from memory.
  pool.fill(0, used, used + tokenBytes)
  used += tokenBytes
  return token
}

/** An identifier that names its kind, for example `quote_k3J…`. */
export function newId(kind: 'quote' | 'request' | 'attempt' | 'instance'): string {
  return `${kind}_${randomToken()}`
}

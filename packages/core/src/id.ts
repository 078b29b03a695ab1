import { toBase64Url } from './bytes.ts'
import { platform } from '#platform'

/** Returns secure random bytes. Randomness enters the program here and nowhere else. */
export function randomBytesOf(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  platform.fillRandom(bytes)
  return bytes
}

const tokenBytes = 16
// One call of the source costs as much for 4 kB as for 16 bytes, and a 402 needs three tokens (a tenth of its time).
const pool = new Uint8Array(4_096)
let used = pool.length

/** 128 random bits as 22 characters of base64url: unguessable, safe in a URL, a header and a memo. */
export function randomToken(): string {
  if (used + tokenBytes > pool.length) {
    platform.fillRandom(pool)
    used = 0
  }
  const token = toBase64Url(pool.subarray(used, used + tokenBytes))
  // A token that was given out must not stay in memory.
  pool.fill(0, used, used + tokenBytes)
  used += tokenBytes
  return token
}

/** An identifier that names its kind, for example `quote_k3J…`. */
export function newId(kind: 'quote' | 'request' | 'attempt' | 'instance'): string {
  return `${kind}_${randomToken()}`
}

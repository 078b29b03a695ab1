import { randomFillSync } from 'node:crypto'

/** Randomness enters the program here and nowhere else. All of it is from the system's secure source. */
export function randomBytesOf(length: number): Uint8Array {
  return randomFillSync(new Uint8Array(length))
}

const tokenBytes = 16
// One call of the source costs as much for 4 kB as for 16 bytes, and a 402 needs three tokens (a tenth of its time).
const pool = Buffer.alloc(4_096)
let used = pool.length

/** 128 random bits as 22 characters of base64url: unguessable, safe in a URL, a header and a memo. */
export function randomToken(): string {
  if (used + tokenBytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const token = pool.toString('base64url', used, used + tokenBytes)
  // What was given out must not stay behind in memory.
  pool.fill(0, used, used + tokenBytes)
  used += tokenBytes
  return token
}

/** An identifier that says what it names, for example `quote_k3J…`. */
export function newId(kind: 'quote' | 'request' | 'attempt' | 'instance'): string {
  return `${kind}_${randomToken()}`
}

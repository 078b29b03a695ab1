import { randomBytes } from 'node:crypto'

/** Randomness enters the program here and nowhere else. All of it is from the system's secure source. */
export function randomBytesOf(length: number): Uint8Array {
  return randomBytes(length)
}

/** 128 random bits as 22 characters of base64url: unguessable, safe in a URL, a header and a memo. */
export function randomToken(): string {
  return randomBytes(16).toString('base64url')
}

/** An identifier that says what it names, for example `quote_k3J…`. */
export function newId(kind: 'quote' | 'request' | 'attempt' | 'instance'): string {
  return `${kind}_${randomToken()}`
}

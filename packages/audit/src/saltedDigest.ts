import { hash, randomFillSync } from 'node:crypto'

/**
 * Short digests, so that a payment takes a hundred bytes of memory however long its names are. The salt is drawn for each
 * audit: two names with one digest cannot be prepared, and an accident has a chance of 2^-48 (2^-96 for streams).
 */
export class SaltedDigest {
  readonly salt: string
  /** A payment's wallet is named twice in a row, and its price is one of a few. */
  readonly #recent = new Map<string, number>()

  constructor(salt = randomFillSync(Buffer.alloc(saltBytes)).toString('base64url')) {
    this.salt = salt
  }

  of(text: string): number {
    return numberAt(hash('sha256', this.salt + text, 'binary'), 0)
  }

  /** The same for names that come again soon. */
  ofRecent(text: string): number {
    const known = this.#recent.get(text)
    if (known !== undefined) return known
    const digest = this.of(text)
    if (this.#recent.size >= recentMax) this.#recent.clear()
    this.#recent.set(text, digest)
    return digest
  }

  /** Two digests of one name, for what has to be unique among all payments. */
  pairOf(text: string): readonly [number, number] {
    const digest = hash('sha256', this.salt + text, 'binary')
    return [numberAt(digest, 0), numberAt(digest, digestBytes)]
  }
}

const saltBytes = 16
// Few, because a slice keeps the whole text that it was cut from.
const recentMax = 64
const digestBytes = 6

/** 48 bits, as an exact number. */
function numberAt(digest: string, start: number): number {
  let number = 0
  for (let at = start; at < start + digestBytes; at++) number = number * 256 + digest.charCodeAt(at)
  return number
}

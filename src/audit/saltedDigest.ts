import { hash } from 'node:crypto'
import { randomToken } from '../primitives/id.ts'

/** 48 bits, as an exact number. */
const digestBytes = 6

/**
 * Short digests, so that a payment takes a hundred bytes of memory however long its names are. The salt is drawn for each
 * audit: nobody can have prepared two names with one digest, and an accident has a chance of 2^-48 (2^-96 for streams).
 */
export class SaltedDigest {
  readonly salt: string

  constructor(salt = randomToken()) {
    this.salt = salt
  }

  of(text: string): number {
    return hash('sha256', this.salt + text, 'buffer').readUIntBE(0, digestBytes)
  }

  /** Two digests of one name, for what has to be unique among all payments. */
  pairOf(text: string): readonly [number, number] {
    const digest = hash('sha256', this.salt + text, 'buffer')
    return [digest.readUIntBE(0, digestBytes), digest.readUIntBE(digestBytes, digestBytes)]
  }
}

import { hash } from 'node:crypto'
import { randomToken } from '../primitives/id.ts'

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
    return numberAt(hash('sha256', this.salt + text, 'binary'), 0)
  }

  /** Two digests of one name, for what has to be unique among all payments. */
  pairOf(text: string): readonly [number, number] {
    const digest = hash('sha256', this.salt + text, 'binary')
    return [numberAt(digest, 0), numberAt(digest, digestBytes)]
  }
}

const digestBytes = 6

/** 48 bits, as an exact number. */
function numberAt(digest: string, start: number): number {
  let number = 0
  for (let at = start; at < start + digestBytes; at++) number = number * 256 + digest.charCodeAt(at)
  return number
}

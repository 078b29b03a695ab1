import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Address } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { decodeBase58 } from '@tollbook/core/base58'
import { toBase64Url } from '@tollbook/core/bytes'

export type VerifySignature = (sessionKey: Address, message: Uint8Array, signature: Uint8Array) => Promise<boolean>

const keysMax = 10_000
const keyBytes = 32

/** The thread pool verifies a signature in 74 µs. A key object takes another 31 µs, so key objects are cached. */
export function createSignatureVerifier(): VerifySignature {
  const keys = new LRUCache<Address, KeyObject>({ max: keysMax })
  return (sessionKey, message, signature) => {
    const key = keys.get(sessionKey) ?? keyOf(sessionKey)
    keys.set(sessionKey, key)
    return new Promise((resolve, reject) => {
      verify(undefined, message, key, signature, (error, isValid) =>
        error === null ? resolve(isValid) : reject(error),
      )
    })
  }
}

function keyOf(sessionKey: Address): KeyObject {
  const bytes = assertPresent(decodeBase58(sessionKey, keyBytes), 'a session key has 32 bytes')
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: toBase64Url(bytes) }, format: 'jwk' })
}

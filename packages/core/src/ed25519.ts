import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { assert } from './assert.ts'

/** A private Ed25519 key as JWK (RFC 8037). */
export interface Ed25519PrivateJwk {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  readonly d: string
}

/** Signs bytes as RFC 8032 has it: the same bytes have the same signature, for ever. */
export interface Ed25519Signer {
  readonly publicKey: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

export function ed25519Signer({ kty, crv, x, d }: Ed25519PrivateJwk): Ed25519Signer {
  const key = createPrivateKey({ key: { kty, crv, x, d }, format: 'jwk' })
  const publicKey = Buffer.from(x, 'base64url')
  assert(publicKey.length === publicKeyBytes, 'an Ed25519 key has 32 bytes')
  return { publicKey, sign: (message) => sign(undefined, message, key) }
}

export interface SignedMessage {
  readonly publicKey: Uint8Array
  readonly message: Uint8Array
  readonly signature: Uint8Array
}

export function verifyEd25519({ publicKey, message, signature }: SignedMessage): boolean {
  if (publicKey.length !== publicKeyBytes || signature.length !== signatureBytes) return false
  const x = Buffer.from(publicKey).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(undefined, message, key, signature)
}

const publicKeyBytes = 32
const signatureBytes = 64

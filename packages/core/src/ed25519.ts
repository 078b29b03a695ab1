import { base64urlnopad } from '@scure/base'
import { assert } from './assert.ts'
import { utf8Bytes } from './bytes.ts'
import { platform } from '#platform'

export interface Ed25519PrivateJwk {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  readonly d: string
}

/** RFC 8032: the same message always gets the same signature. */
export interface Ed25519Signer {
  readonly publicKey: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

/**
 * The private key is not a property of the signer, so that printing the signer does not reveal it. Throws `Bug` if the
 * public key has the wrong length.
 */
export function ed25519Signer({ x, d }: Ed25519PrivateJwk): Ed25519Signer {
  const publicKey = base64urlnopad.decode(x)
  assert(publicKey.length === publicKeyBytes, 'an Ed25519 key has 32 bytes')
  return { publicKey, sign: platform.ed25519Signer(base64urlnopad.decode(d), publicKey) }
}

/**
 * Creates a signer from a secret key as Solana stores it: the 32-byte seed, then the public key. Undefined if the
 * length is wrong, or the two do not match.
 */
export function secretKeySigner(secretKey: Uint8Array): Ed25519Signer | undefined {
  if (secretKey.length !== seedBytes + publicKeyBytes) return undefined
  const publicKey = secretKey.slice(seedBytes)
  const sign = platform.ed25519Signer(secretKey.slice(0, seedBytes), publicKey)
  const message = utf8Bytes('tollbook')
  return verifyEd25519({ publicKey, message, signature: sign(message) }) ? { publicKey, sign } : undefined
}

export interface SignedMessage {
  readonly publicKey: Uint8Array
  readonly message: Uint8Array
  readonly signature: Uint8Array
}

/** True if the signature is valid. False for a key or signature of the wrong length. */
export function verifyEd25519({ publicKey, message, signature }: SignedMessage): boolean {
  if (publicKey.length !== publicKeyBytes || signature.length !== signatureBytes) return false
  return platform.verifyEd25519({ publicKey, message, signature })
}

const seedBytes = 32
const publicKeyBytes = 32
const signatureBytes = 64

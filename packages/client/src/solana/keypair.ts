import { ed25519 } from '@noble/curves/ed25519'
import { type Address, readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { concatBytes } from '@tollbook/core/bytes'
import { type Ed25519Signer, secretKeySigner } from '@tollbook/core/ed25519'
import { randomBytesOf } from '@tollbook/core/id'
import { PayerFault } from '../errorCode.ts'

export interface Keypair extends Ed25519Signer {
  readonly address: Address
  /** The 32 bytes of the private key, then the 32 bytes of the public key, as Solana stores them. */
  readonly secretKey: Uint8Array
}

/** A secret key of 64 bytes, or an object that has one, such as a `Keypair` of @solana/web3.js. */
export type SecretKey = Uint8Array | { readonly secretKey: Uint8Array }

/** Returns a new key of 64 bytes as Solana stores it: the 32-byte seed, then the public key. */
export function newSecretKey(): Uint8Array {
  const seed = randomBytesOf(32)
  return concatBytes([seed, ed25519.getPublicKey(seed)])
}

/**
 * Reads a secret key. Throws a `PayerFault` if the last 32 bytes are not its public key. Error messages never contain
 * the key.
 */
export function readSecretKey(key: SecretKey): Keypair {
  const secretKey = key instanceof Uint8Array ? key : key.secretKey
  const signer = secretKeySigner(secretKey)
  if (signer === undefined)
    throw new PayerFault('KEYPAIR_UNREADABLE', 'a secret key has 64 bytes, and the last 32 are its public key', {
      retryable: false,
    })
  const address = assertPresent(readAddress(encodeBase58(signer.publicKey)), 'a public key is an address')
  return { ...signer, address, secretKey: secretKey.slice() }
}

import { expect, test } from 'vitest'
import { encodeBase58 } from '@tollbook/core/base58'
import { ed25519Signer, secretKeySigner, verifyEd25519 } from '@tollbook/core/ed25519'
import { readSignature, signatureBytes, signatureOfBytes } from '@tollbook/core/signature'
import { makeReceiptKey } from '../../src/cli/local/home.ts'

const bytes = Uint8Array.from({ length: 64 }, (_, index) => index)

test('a signature is 64 bytes in base58, and not the 64 zero bytes of a missing one', () => {
  const read = readSignature(encodeBase58(bytes))
  expect(read).toBe(encodeBase58(bytes))
  expect(read === undefined ? undefined : signatureBytes(read)).toEqual(bytes)
  for (const wrong of [new Uint8Array(64), bytes.subarray(1), Uint8Array.of(1, ...bytes)]) {
    expect(signatureOfBytes(wrong)).toBeUndefined()
    expect(readSignature(encodeBase58(wrong))).toBeUndefined()
  }
})

test('a secret key of Solana signs only if its two halves belong together', () => {
  const jwk = makeReceiptKey()
  const seed = Buffer.from(jwk.d, 'base64url')
  const { publicKey } = ed25519Signer(jwk)
  const signer = secretKeySigner(Uint8Array.of(...seed, ...publicKey))
  const message = Uint8Array.of(1, 2, 3)
  const signature = signer?.sign(message) ?? new Uint8Array()
  expect(verifyEd25519({ publicKey, message, signature })).toBe(true)
  const other = ed25519Signer(makeReceiptKey()).publicKey
  expect(secretKeySigner(Uint8Array.of(...seed, ...other))).toBeUndefined()
  expect(secretKeySigner(seed)).toBeUndefined()
})

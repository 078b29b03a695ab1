import { expect, test } from 'vitest'
import { encodeBase58 } from '@tollbook/core/base58'
import { jwsSigner } from '@tollbook/core/compactJws'
import { ed25519Signer, secretKeySigner, verifyEd25519 } from '@tollbook/core/ed25519'
import { clusterOf, networkOf, networks } from '@tollbook/core/networks'
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

test('a JWS names the key of its signer, or the key that the caller names', () => {
  const sign = jwsSigner(ed25519Signer(makeReceiptKey()), 'key-1')
  const headerOf = (jws: string) => JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString('utf8'))
  expect(headerOf(sign({ a: 1 }, {}))).toEqual({ alg: 'EdDSA', kid: 'key-1' })
  expect(headerOf(sign({ a: 1 }, { kid: 'key-2', typ: 'receipt' }))).toEqual({
    alg: 'EdDSA',
    kid: 'key-2',
    typ: 'receipt',
  })
})

test('each public network has a cluster, and a private chain has none', () => {
  for (const [cluster, network] of Object.entries(networks)) {
    expect(clusterOf(network)).toBe(cluster)
    expect(networkOf(cluster)).toBe(network)
  }
  expect([clusterOf('solana:private'), networkOf('private')]).toEqual([undefined, undefined])
})

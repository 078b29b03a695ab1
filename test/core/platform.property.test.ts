import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { platform as node } from '../../packages/core/src/platformNode.ts'
import { ed25519 } from '@noble/curves/ed25519'
import { platform as web } from '../../packages/core/src/platformWeb.ts'
import { rounds } from '../support/rounds.ts'

const bytes = fc.uint8Array({ maxLength: 300 })
const seed = fc.uint8Array({ minLength: 32, maxLength: 32 })

function publicKeyOf(secret: Uint8Array): Uint8Array {
  return ed25519.getPublicKey(secret)
}

describe('Node and every other runtime return the same bytes', () => {
  test('digests and encodings are equal', () => {
    fc.assert(
      fc.property(bytes, fc.string({ unit: 'grapheme' }), (data, text) => {
        expect(Buffer.from(web.sha256(data))).toEqual(Buffer.from(node.sha256(data)))
        expect(Buffer.from(web.sha256(text))).toEqual(Buffer.from(node.sha256(text)))
        for (const encoding of ['hex', 'base64url'] as const) {
          expect(web.sha256Text(text, encoding)).toBe(node.sha256Text(text, encoding))
          expect(web.sha256Text(data, encoding)).toBe(node.sha256Text(data, encoding))
        }
        expect(web.toBase64(data)).toBe(node.toBase64(data))
        expect(web.toBase64Url(data)).toBe(node.toBase64Url(data))
        expect(web.toHex(data)).toBe(node.toHex(data))
      }),
    )
  })

  test('base64 is read in its canonical spelling only', () => {
    const almost = fc.oneof(
      bytes.map((data) => node.toBase64(data)),
      fc.base64String(),
      fc.string({ maxLength: 24 }),
    )
    fc.assert(
      fc.property(almost, (text) => {
        const [one, other] = [node.fromBase64(text), web.fromBase64(text)]
        expect(other === undefined ? undefined : Buffer.from(other)).toEqual(
          one === undefined ? undefined : Buffer.from(one),
        )
      }),
    )
  })

  test('each verifies what the other has signed, and refuses one changed byte', () => {
    fc.assert(
      fc.property(seed, bytes, fc.nat({ max: 511 }), (secret, message, bit) => {
        const publicKey = publicKeyOf(secret)
        const signature = Uint8Array.from(node.ed25519Signer(secret, publicKey)(message))
        expect(Uint8Array.from(web.ed25519Signer(secret, publicKey)(message))).toEqual(signature)
        const changed = Uint8Array.from(signature)
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        for (const platform of [node, web]) {
          expect(platform.verifyEd25519({ publicKey, message, signature })).toBe(true)
          expect(platform.verifyEd25519({ publicKey, message, signature: changed })).toBe(false)
        }
      }),
      { numRuns: rounds(30) },
    )
  })

  test('random bytes fill exactly the range that was given', () => {
    for (const platform of [node, web]) {
      const buffer = new Uint8Array(96)
      platform.fillRandom(buffer.subarray(32, 64))
      expect(buffer.subarray(0, 32).every((byte) => byte === 0)).toBe(true)
      expect(buffer.subarray(64).every((byte) => byte === 0)).toBe(true)
      expect(buffer.subarray(32, 64).some((byte) => byte !== 0)).toBe(true)
    }
  })
})

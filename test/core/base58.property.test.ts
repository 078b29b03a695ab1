import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeBase58, encodeBase58, isBase58Of32Bytes } from '@tollbook/core/base58'

const keys = fc.uint8Array({ minLength: 32, maxLength: 32 })

test('32 bytes have one base58 text and decode from it unchanged', () => {
  fc.assert(
    fc.property(keys, (bytes) => {
      const text = encodeBase58(bytes)
      expect(isBase58Of32Bytes(text)).toBe(true)
      expect(decodeBase58(text, 32)).toEqual(bytes)
    }),
  )
})

test('a leading 1 adds a byte, so the longer text is another value and no address', () => {
  fc.assert(
    fc.property(keys, (bytes) => {
      expect(isBase58Of32Bytes(`1${encodeBase58(bytes)}`)).toBe(false)
    }),
  )
})

test.each(['', '0', 'O', 'I', 'l', 'a b', 'é', 'A'.repeat(1_000_000)])(
  'text %#, which is not base58 of 32 bytes, is refused',
  (text) => {
    expect(isBase58Of32Bytes(text)).toBe(false)
  },
)

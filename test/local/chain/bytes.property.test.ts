import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteReader, MalformedBytes } from '@tollbook/localnet/byteReader'

test('a reader never reads beyond its end', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 7 }), (bytes) => {
      expect(() => new ByteReader(bytes).take(bytes.length + 1)).toThrow(MalformedBytes)
    }),
  )
})

test('a length has one spelling only', () => {
  const read = (...bytes: number[]) => new ByteReader(Uint8Array.from(bytes)).compactU16()

  expect([read(0), read(0x7f), read(0x80, 1), read(0xff, 0xff, 3)]).toEqual([0, 127, 128, 65_535])
  for (const bytes of [[0x80, 0], [0xff, 0x80, 0], [0xff, 0xff, 4], [0xff, 0xff, 0x83], [0x80]]) {
    expect(() => read(...bytes)).toThrow(MalformedBytes)
  }
})

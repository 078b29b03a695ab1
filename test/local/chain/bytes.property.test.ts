import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteReader, MalformedBytes } from '@tollbook/localnet/byteReader'
import { ByteWriter } from '@tollbook/localnet/byteWriter'

const field = fc.oneof(
  fc.record({ kind: fc.constant('u8' as const), value: fc.nat({ max: 0xff }) }),
  fc.record({ kind: fc.constant('u16' as const), value: fc.nat({ max: 0xffff }) }),
  fc.record({ kind: fc.constant('u32' as const), value: fc.nat({ max: 0xffff_ffff }) }),
  fc.record({ kind: fc.constant('u64' as const), value: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) }),
  fc.record({ kind: fc.constant('text' as const), value: fc.string({ maxLength: 3_000, unit: 'grapheme' }) }),
)

test('what was written is read again, also beyond the first capacity of the writer', () => {
  fc.assert(
    fc.property(fc.array(field, { maxLength: 40 }), (fields) => {
      const writer = new ByteWriter()
      for (const each of fields) write(writer, each)
      const reader = new ByteReader(writer.finish())
      expect(fields.map(({ kind }) => reader[kind]())).toEqual(fields.map(({ value }) => value))
      expect(reader.remaining).toBe(0)
    }),
    { numRuns: 300 },
  )
})

test('a reader never reads beyond its end', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 7 }), (bytes) => {
      expect(() => new ByteReader(bytes).u64()).toThrow(MalformedBytes)
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

function write(writer: ByteWriter, each: typeof field extends fc.Arbitrary<infer F> ? F : never): void {
  if (each.kind === 'u64') writer.u64(each.value)
  else if (each.kind === 'text') writer.text(each.value)
  else writer[each.kind](each.value)
}

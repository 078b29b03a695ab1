import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { leafEntry, leafHash } from '@tollbook/core/leaf'

const input = { position: 258, recordedAtMs: 1_763_720_405_250, body: Buffer.from('{"kind":"x"}') }

test('I23: an entry is position and time as 8 bytes each, big-endian, and then the body', () => {
  const entry = Buffer.from(leafEntry(input))
  expect(entry.subarray(0, 8).toString('hex')).toBe('0000000000000102')
  expect(entry.subarray(8, 16).toString('hex')).toBe(BigInt(input.recordedAtMs).toString(16).padStart(16, '0'))
  expect(entry.subarray(16).toString()).toBe('{"kind":"x"}')
})

test('I23: a leaf is the SHA-256 of a zero byte and the entry, as RFC 6962 has it', () => {
  const expected = createHash('sha256').update(Buffer.of(0)).update(leafEntry(input)).digest('hex')
  expect(Buffer.from(leafHash(input)).toString('hex')).toBe(expected)
})

test('an invalid position is a bug', () => {
  for (const position of [0, -1, 1.5, Number.NaN, 2 ** 53]) {
    expect(() => leafEntry({ ...input, position })).toThrow(/positions count from 1/)
  }
})

import { expect, test } from 'vitest'
import { readByteRange } from '../../src/transport/byteRange.ts'

test.each([
  ['bytes=0-9', 100, { start: 0, end: 9 }],
  ['BYTES=99-', 100, { start: 99, end: 99 }],
  ['bytes=90-200', 100, { start: 90, end: 99 }],
  ['bytes=-1', 100, { start: 99, end: 99 }],
  // A suffix that is longer than the file is all of it.
  ['bytes=-500', 100, { start: 0, end: 99 }],
  ['bytes=100-', 100, 'unsatisfiable'],
  ['bytes=-0', 100, 'unsatisfiable'],
  ['bytes=0-', 0, 'unsatisfiable'],
  ['bytes=-5', 0, 'unsatisfiable'],
  // All of these are ignored, and the whole file is sent.
  ['', 100, undefined],
  ['bytes=-', 100, undefined],
  ['bytes=9-3', 100, undefined],
  ['bytes=0-1,3-4', 100, undefined],
  ['bytes=a-b', 100, undefined],
  ['pages=0-1', 100, undefined],
  ['bytes=0-9999999999999999', 100, undefined],
])('Range: %s of %i bytes', (header, size, range) => {
  expect(readByteRange(header, size)).toEqual(range)
})

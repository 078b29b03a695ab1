import { expect, test } from 'vitest'
import { chooseCoding } from '../../src/transport/contentCoding.ts'

test.each([
  ['', undefined],
  ['br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['br;q=0.5, gzip', 'gzip'],
  ['br;q=0.5, gzip;q=0.500', 'br'],
  ['GZIP ; Q=0.1', 'gzip'],
  ['gzip;q=0, br;q=0.0', undefined],
  ['identity, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip', 'gzip'],
  ['identity, gzip', 'gzip'],
  ['*', 'br'],
  ['*;q=0.5, br;q=0', 'gzip'],
  ['*;q=0', undefined],
  ['identity;q=0', undefined],
  ['deflate, zstd, gzipped', undefined],
  // A weight that is not well-formed never chooses a coding.
  ['br;q=nan, gzip;q=2, gzip;q=', undefined],
  ['gzip,'.repeat(4_000), 'gzip'],
])('Accept-Encoding: %s', (header, coding) => {
  expect(chooseCoding(header)).toBe(coding)
})

test('only a coding that the body has is chosen', () => {
  expect(chooseCoding('br, gzip;q=0.5', ['gzip'])).toBe('gzip')
  expect(chooseCoding('br, gzip', [])).toBeUndefined()
})

import { expect, test } from 'vitest'
import { newId, randomToken } from '@tollbook/core/id'

test('tokens are 128 bits of base64url and none comes twice, also across refills of the pool', () => {
  const tokens = Array.from({ length: 10_000 }, randomToken)
  expect(new Set(tokens).size).toBe(tokens.length)
  expect(tokens.every((token) => /^[A-Za-z0-9_-]{22}$/.test(token))).toBe(true)
})

test('bits of tokens are as often set as not', () => {
  const bytes = Buffer.concat(Array.from({ length: 4_000 }, () => Buffer.from(randomToken(), 'base64url')))
  const set = bytes.reduce((sum, byte) => sum + (byte.toString(2).match(/1/g)?.length ?? 0), 0)
  // 512,000 fair coins: six standard deviations are 2,147.
  expect(Math.abs(set - bytes.length * 4)).toBeLessThan(2_147)
})

test('an identifier says what it names', () => {
  expect(newId('quote')).toMatch(/^quote_[A-Za-z0-9_-]{22}$/)
})

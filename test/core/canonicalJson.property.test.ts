import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, type Json } from '@tollbook/core/canonicalJson'

const json = fc.jsonValue({ maxDepth: 4 }).map((value): Json => JSON.parse(JSON.stringify(value)))

test('two spellings of one value have one canonical text', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), json), (object) => {
      const reversed = Object.fromEntries(Object.entries(object).reverse())
      expect(canonicalJson(reversed)).toBe(canonicalJson(object))
    }),
  )
})

test('the canonical text means the value it was made of', () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(value)
    }),
  )
})

test('keys are ordered by code unit, as RFC 8785 asks', () => {
  expect(canonicalJson({ b: 1, a: 2, '€': 3, A: 4 })).toBe('{"A":4,"a":2,"b":1,"€":3}')
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, type Json } from '@tollbook/core/canonicalJson'
import { parseJsonBytes } from '@tollbook/core/json'

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

test('objects whose lists of keys read the same with commas keep their keys', () => {
  expect(canonicalJson({ a: 1, b: 2 })).toBe('{"a":1,"b":2}')
  expect(canonicalJson({ 'a,b': 3 })).toBe('{"a,b":3}')
  expect(canonicalJson({ a: 4, b: 5 })).toBe('{"a":4,"b":5}')
})

test('bytes are JSON only without a byte order mark and in valid UTF-8', () => {
  expect(parseJsonBytes(Buffer.from('{"a":1}'))).toEqual({ a: 1 })
  expect(parseJsonBytes(Buffer.from('\ufeff{"a":1}'))).toBeUndefined()
  expect(parseJsonBytes(Buffer.from([0x22, 0xff, 0x22]))).toBeUndefined()
})

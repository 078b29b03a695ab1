import { expect, test } from 'vitest'
import { baseUnits, parseCanonical, UnreadableBody } from '@tollbook/audit/body'

// The audit keeps amounts in 64 bits: a larger one would be compared without its upper part.
test('an amount of more base units than a token account can hold is unreadable', () => {
  expect(baseUnits.parse('18446744073709551615')).toBe(2n ** 64n - 1n)
  for (const text of ['18446744073709551616', '99999999999999999999', '01', '-1', '1.0', ''])
    expect(baseUnits.safeParse(text).success, text).toBe(false)
})

test('a body has one spelling, and every value has one that is read', () => {
  for (const text of ['{"10":1,"9":2}', '{"a":"\\u0001é","b":[1.5,1e+21,null,true]}', '{"__proto__":1}', '[{}]'])
    expect(() => parseCanonical(Buffer.from(text)), text).not.toThrow()
  for (const text of [
    '{"9":1,"10":2}',
    '{"a":"\\u0041"}',
    '{"a":1.0}',
    '{"a":-0}',
    '{"a":1,"a":1}',
    '{"b":1,"a":2}',
    ' 1',
    '1 ',
    '',
  ])
    expect(() => parseCanonical(Buffer.from(text)), text).toThrow(UnreadableBody)
  expect(() => parseCanonical(Buffer.from([0x22, 0xff, 0x22])), 'bytes that are not UTF-8').toThrow(UnreadableBody)
  const deep = `${'['.repeat(60_000)}${']'.repeat(60_000)}`
  for (const text of [deep, `{"b":1,"a":${deep}}`, `{"10":1,"9":${deep}}`])
    expect(() => parseCanonical(Buffer.from(text)), 'nested without end').toThrow(UnreadableBody)
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonLimits, parseJson } from '../../src/transport/parseJson.ts'

const bytes = (text: string) => Buffer.from(text, 'utf8')

test('whatever JSON.stringify writes is read back', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.boolean(), (value, pretty) => {
      const text = JSON.stringify(value, null, pretty ? 2 : 0)
      expect(parseJson(bytes(text))).toEqual({ ok: true, value: JSON.parse(text) })
    }),
  )
})

test('a key that is given twice in one object is found wherever it stands', () => {
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), fc.array(fc.constantFrom('[', '{"k":')), (key, value, wrappers) => {
      const twice = `{${JSON.stringify(key)}:1, "between":${JSON.stringify(value)},${JSON.stringify(key)} :2}`
      const closers = wrappers.map((wrapper) => (wrapper === '[' ? ']' : '}')).reverse()
      expect(parseJson(bytes([...wrappers, twice, ...closers].join('')))).toMatchObject({ ok: false })
    }),
  )
})

describe('is read', () => {
  test.each(['{"a":{"a":1}}', '[{"a":1},{"a":2}]', '{"a":"a","b":"a"}', '{"a\\"":1,"a":2}', '{"a":"{\\"a\\":1}"}'])(
    '%s, where no object has a key twice',
    (text) => {
      expect(parseJson(bytes(text))).toMatchObject({ ok: true })
    },
  )
})

describe('is refused', () => {
  test.each([
    ['a second spelling of the same key', bytes('{"a":1,"\\u0061":2}')],
    ['a byte order mark', Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d])],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['a comment', bytes('/*x*/{}')],
    ['nothing', bytes('')],
  ])('%s', (_name, input) => {
    expect(parseJson(input)).toMatchObject({ ok: false })
  })
})

describe('the limits, which keep the cost of a body linear in its bytes', () => {
  const { depthMax, itemsMax, nameBytesMax, scalarBytesMax } = jsonLimits
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  const listOf = (part: string, count: number) => `[${Array.from({ length: count }, () => part).join(',')}]`
  const objectOf = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join(',')}}`

  test.each([
    ['levels', nested(depthMax)],
    ['elements', listOf('""', itemsMax - 1)],
    ['names', objectOf(itemsMax / 2 - 1)],
    ['bytes of a name', `{"${'k'.repeat(nameBytesMax)}":1}`],
    ['digits', '1'.repeat(scalarBytesMax)],
    ['text that looks like structure', JSON.stringify({ html: '{"a":[1,2,'.repeat(itemsMax) })],
  ])('as many %s as allowed are read', (_name, json) => {
    expect(parseJson(bytes(json))).toEqual({ ok: true, value: JSON.parse(json) })
  })

  test.each([
    ['arrays too deep', nested(depthMax + 1), /at most 32 levels/],
    ['arrays deeper than any stack', nested(500_000), /at most 32 levels/],
    ['objects deeper than any stack', `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`, /at most 32 levels/],
    ['too many elements', listOf('""', itemsMax), /at most 1000 names and values/],
    ['too many empty objects', listOf('{}', itemsMax), /at most 1000 names and values/],
    ['too many names', objectOf(itemsMax / 2), /at most 1000 names and values/],
    ['too many objects named __proto__', listOf('{"__proto__":{}}', itemsMax), /at most 1000 names and values/],
    ['a name that is too long', `{"${'k'.repeat(nameBytesMax + 1)}":1}`, /names of at most 256 bytes/],
    ['a number that is too long', `{"size":${'9'.repeat(scalarBytesMax + 1)}}`, /numbers of at most 40 characters/],
    ['a name twice, far apart', `{"a":1,"html":"${'x'.repeat(500_000)}","a":2}`, /twice/],
  ])('%s is refused, and the message names the limit', (_name, json, message) => {
    expect(parseJson(bytes(json))).toEqual({ ok: false, message: expect.stringMatching(message) })
  })
})

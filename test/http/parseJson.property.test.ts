import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../../src/http/parseJson.ts'

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

test('nesting that is deeper than any stack is walked without one', () => {
  expect(parseJson(bytes('['.repeat(50_000) + ']'.repeat(50_000)))).toMatchObject({ ok: true })
  expect(parseJson(bytes(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`))).toMatchObject({ ok: true })
})

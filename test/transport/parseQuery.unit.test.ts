import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseQuery, shownName } from '../../src/transport/parseQuery.ts'

test('names and values are decoded once', () => {
  expect(parseQuery('symbol=BTC&q=a%20b+c&empty=&%C3%A9=%E2%82%AC')).toEqual({
    ok: true,
    values: { symbol: 'BTC', q: 'a b c', empty: '', é: '€' },
  })
  expect(parseQuery('symbol=%2542')).toEqual({ ok: true, values: { symbol: '%42' } })
  expect(parseQuery('')).toEqual({ ok: true, values: {} })
})

test.each([
  ['symbol=BTC&symbol=BTC', 'symbol'],
  ['symbol=%', 'query'],
  ['symbol=%ED%A0%80', 'query'],
  ['symbol=%C3', 'query'],
  [Array.from({ length: 65 }, (_, index) => `p${index}=1`).join('&'), 'query'],
])('%s is refused', (query, field) => {
  expect(parseQuery(query)).toMatchObject({ ok: false, problem: { field } })
})

test('a name that is also a property of every object is a name like any other', () => {
  const parsed = parseQuery('__proto__=1&constructor=2')
  expect(parsed.ok && Object.keys(parsed.values)).toEqual(['__proto__', 'constructor'])
})

test('any encoded parameters decode to the same values', () => {
  const names = fc.string({ minLength: 1 }).filter((text) => text.isWellFormed())
  fc.assert(
    fc.property(fc.dictionary(names, names, { maxKeys: 20, noNullPrototype: true }), (values) => {
      const query = Object.entries(values).map(
        ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
      )
      expect(parseQuery(query.join('&'))).toEqual({ ok: true, values })
    }),
  )
})

test('a name made up by a caller is repeated only when it is harmless', () => {
  expect(shownName('limit')).toBe('limit')
  expect(shownName('<script>')).toBe('(unknown name)')
  expect(shownName('evil.example')).toBe('(unknown name)')
})

import { expect, test } from 'vitest'
import { basePathOf, fillTemplate } from '@tollbook/core/pathTemplate'

test.each([
  ['/api/data', '/api/data', ''],
  ['/gateway/v1/api/data', '/api/data', '/gateway/v1'],
  ['/items/a%20b', '/items/{id}', ''],
  ['/gateway/items/1/parts/2', '/items/{id}/parts/{part}', '/gateway'],
  ['/items/', '/items/{id}', undefined],
  ['/other/1', '/items/{id}', undefined],
  ['/items/1/more', '/items/{id}', undefined],
  ['/my-items/1', '/items/{id}', undefined],
  ['/1', '/items/{id}', undefined],
  ['/api/data', '', undefined],
])('the base path of %s for %s is %j', (requested, template, base) => {
  expect(basePathOf(requested, template)).toBe(base)
})

test('a template is filled with encoded values, also with the quote of a shell', () => {
  const filled = fillTemplate('/items/{id}/{part}/{none}', { id: "it's", part: { a: 1 } })
  expect(filled).toBe('/items/it%27s/%7B%22a%22%3A1%7D/{none}')
  expect(fillTemplate('/{constructor}', {})).toBe('/{constructor}')
})

import { expect, test } from 'vitest'
import { basePathOf } from '@tollbook/core/pathTemplate'

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

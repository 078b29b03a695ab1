import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { queryInteger } from '../../src/product/text.ts'
import { readArguments } from '../../src/transport/readParameters.ts'
import { openTestEndpoint } from '../support/testProduct.ts'

const endpoint = openTestEndpoint({
  path: '/api/items/{id}',
  parameters: z.strictObject({ id: z.string(), limit: queryInteger({ min: 1, max: 9, default: 1 }) }),
  deliver: () => Promise.reject(new Error('not called')),
})

const read = (values: Readonly<Record<string, Json>>) => readArguments(endpoint, values)

test('an argument of the path is encoded once, and numbers of a query are texts', () => {
  const { path, ordered } = read({ id: 'a b&c', limit: 3 })
  expect(path).toBe('/api/items/a%20b%26c')
  expect(ordered).toMatchObject({ parameters: { id: 'a b&c', limit: 3 } })
  expect(read({ id: 7 })).toMatchObject({ path: '/api/items/7', ordered: { parameters: { id: '7', limit: 1 } } })
})

test.each([
  ['missing', {}],
  ['empty', { id: '' }],
  ['a parent', { id: '..' }],
  ['two segments', { id: 'a/b' }],
  ['encoded twice', { id: 'a%2Fb' }],
  ['a lone surrogate', { id: '\uD800' }],
  ['an object', { id: { a: 1 } }],
  ['too long', { id: 'a'.repeat(300) }],
])('an argument of the path that is %s is refused by its name', (_name, values: Readonly<Record<string, Json>>) => {
  const { ordered } = read(values)
  expect(ordered).toMatchObject({ status: 400, body: expect.stringContaining('"field":"id"') })
})

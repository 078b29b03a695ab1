import { expect, test } from 'vitest'
import { signedRequestOf } from '@tollbook/client/tab/tabDebit'
import type { PayableRequest } from '@tollbook/client/payableRequest'

const service = 'https://api.example/base'
const signed = (url: string, quote: { endpoint: string; method?: string }, tool?: PayableRequest['tool']) =>
  signedRequestOf(
    {
      content: { method: 'POST', url, headers: [] },
      idempotencyKey: undefined,
      signal: new AbortController().signal,
      ...(tool && { tool }),
    },
    { service, quote },
  )

test('a debit signs path and query below the base of the service, without the fragment', () => {
  expect(signed(`${service}/a/b?x=1#part`, { endpoint: '/a/b' })).toEqual({
    method: 'POST',
    target: '/a/b?x=1',
    body: undefined,
  })
})

test.each([
  ['GET', '/items/7?a=1&b=2', undefined],
  ['DELETE', '/items/7?a=1&b=2', undefined],
  ['POST', '/items/7', '{"a":1,"b":"2"}'],
  ['PUT', '/items/7', '{"a":1,"b":"2"}'],
])('a tool call of a product by %s signs the target and body of the same HTTP request', (method, target, body) => {
  const tool = { name: 'items_id', arguments: { b: '2', id: '7', a: 1 } }
  expect(signed(`${service}/mcp`, { endpoint: '/items/{id}', method }, tool)).toEqual({ method, target, body })
})

test('a tool whose offer does not state the method is not debited', () => {
  expect(signed(`${service}/mcp`, { endpoint: '/items' }, { name: 'items', arguments: {} })).toBeUndefined()
})

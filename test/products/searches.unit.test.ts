import { describe, expect, test } from 'vitest'
import { createSearchRoutes } from '../../src/routes/searchRoutes.ts'
import type { FreeRequest } from '../../src/transport/freeRoute.ts'
import { findListed } from '../../src/sourcing/listedNames.ts'
import { searches } from '../support/builtinProducts.ts'
import { assert, assertPresent } from '@tollbook/core/assert'

const request: Omit<FreeRequest, 'query'> = {
  address: '192.0.2.1',
  segment: '',
  host: '',
  requestId: 'r',
  header: () => undefined,
  limits: { limitQuotes: () => undefined, limitLookups: () => undefined },
}

async function search(kind: string, query: string) {
  const route = assertPresent(
    createSearchRoutes(searches).find(({ path }) => path === `/api/search/${kind}`),
    'the route exists',
  )
  const { status, body, headers } = await route.serve({ ...request, query })
  assert(typeof body === 'string', 'the answer is JSON')
  return { status, headers, body: JSON.parse(body) }
}

describe('a free search', () => {
  test.each([
    ['coins', 'query=sol', { symbol: 'SOL', id: 'solana' }],
    ['coins', 'query=Bitcoin', { symbol: 'BTC', id: 'bitcoin' }],
    ['tickers', 'query=AAPL', { symbol: 'AAPL', name: 'Apple' }],
    ['tickers', 'query=nestle', { symbol: 'NESN.SW', name: 'Nestlé' }],
    ['places', 'query=Cologne', { name: 'Köln', countryCode: 'DE' }],
  ])('of %s with %s finds the likeliest first', async (kind, query, first) => {
    const { status, headers, body } = await search(kind, query)
    expect(status).toBe(200)
    expect(body.data.results[0]).toMatchObject(first)
    expect(headers['cache-control']).toBe('public, max-age=3600')
  })

  test('lists the namesakes of a place, and no more than were asked for', async () => {
    const { body } = await search('places', 'query=Valencia&limit=3')
    expect(body.data.total).toBe(3)
    expect(body.data.results.map(({ countryCode }: { countryCode: string }) => countryCode)).toContain('ES')
  })

  test('of something unknown is empty and not an error', async () => {
    for (const { path } of searches) {
      const { status, body } = await search(path.split('/').at(-1) ?? '', 'query=qwzxvqq')
      expect([status, body.data]).toEqual([200, { results: [], total: 0 }])
    }
  })

  test.each(['', 'query=', 'query=a&query=b', 'query=%20', 'query=a&limit=51', 'q=a', `query=${'a'.repeat(101)}`])(
    'refuses "%s"',
    async (query) => {
      const { status, body } = await search('coins', query)
      expect([status, body.code]).toEqual([400, 'INVALID_REQUEST'])
    },
  )
})

test('equal symbols come first, then those that begin so, then names; accents and marks make no difference', () => {
  const items = [
    { symbol: 'ABC', name: 'The Söl-thing' },
    { symbol: 'SOLX', name: 'Other' },
    { symbol: 'XYZ', name: 'Absolute' },
    { symbol: 'SOL', name: 'Solana' },
  ]
  const symbolsOf = (query: string) => findListed(items, query).map(({ symbol }) => symbol)
  expect(symbolsOf('sól')).toEqual(['SOL', 'SOLX', 'ABC'])
  expect(symbolsOf('Sol thing')).toEqual(['ABC'])
})

import { expect, test } from 'vitest'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { nameTools } from '../../src/mcp/paidTools.ts'
import { toolNameOf } from '@tollbook/core/toolRequest'
import { openTools } from '../../src/mcp/tools.ts'
import type { Endpoint } from '../../src/product/endpoint.ts'
import { loadProducts } from '../../src/products/catalog.ts'
import { builtinNames } from '../../src/product/builtinName.ts'
import type { FreeRoute } from '../../src/transport/freeRoute.ts'

const unused = () => {
  throw new Error('not called')
}
const opened = { whyUnavailable: unused, suppliedBy: unused, probes: [], read: unused }
const perToken = { inputPerMillionMicroUsd: 250_000n, outputPerMillionMicroUsd: 2_000_000n, minimumMicroUsd: 100n }
const variants = Array.from({ length: 200 }, (_, nth) => ({
  name: `vendor/model-${nth}`,
  priceMicroUsd: BigInt(50_000 + nth),
  ...(nth === 0 ? {} : { metered: perToken }),
}))
const endpoints = (await loadProducts(builtinNames)).map((product): Endpoint => ({
  ...product,
  ...opened,
  ...(product.path.includes('chat') ? { variants, metered: perToken, usedUnit: 'tokens' as const } : {}),
}))
const tabs: Endpoint[] = endpoints
  .slice(0, 1)
  .map(({ metered: _none, ...product }) => ({ ...product, path: '/api/tabs', isDeposit: true }))
const freePaths = ['/api/catalog', '/api/health', '/api/token/burn-stats', '/api/receipts/:reference']

// Agents carry the whole list in each prompt. A longer summary, description or schema belongs into the OpenAPI
// document.
const charactersPerTool = 925

test('a tool has 925 characters on average at most, however many models are priced', () => {
  const { listed } = openTools(
    endpoints,
    freePaths.map((path) => ({ path, serve: unused })),
  )
  expect(listed).toHaveLength(endpoints.length + freePaths.length)
  const text = JSON.stringify({ tools: listed })
  expect(text.length).toBeLessThan(charactersPerTool * listed.length)
  expect(text).toContain('0.05 to 0.050199 USD a call')
  // Model providers refuse these at the top of a schema.
  for (const { inputSchema } of listed) expect(Object.keys(inputSchema)).not.toContain('oneOf')
})

test('a price by use is stated where tabs are sold, which alone pay it', () => {
  const priceOf = (name: string, sold = [...endpoints, ...tabs]) => {
    const found = openTools(sold, []).listed.find((tool) => tool.name === name)
    return found?.description?.replace(/^.*?\. (?=\d)/, '')
  }
  expect(priceOf('v1_chat_completions')).toBe(
    '0.05 to 0.050199 USD a call; on a tab at most that, by use: $0.25 per million input tokens, $2 per million output tokens, at least $0.0001; list_prices has the other models.',
  )
  const [rows] = endpoints.map((product): Endpoint => ({
    ...product,
    path: '/rows',
    usedUnit: 'rows',
    metered: perToken,
  }))
  expect(priceOf('rows', [...tabs, ...(rows === undefined ? [] : [rows])])).toMatch(
    /^0\.02 USD a call; on a tab at most that, by use: \$0\.000002 per row, at least \$0\.0001\.$/,
  )
  expect(priceOf('v1_chat_completions', endpoints)).toBe('0.05 to 0.050199 USD a call.')
  expect(priceOf('data_crypto')).toBe('0.02 USD a call.')
})

test.each([
  ['/api/data/crypto', 'data_crypto'],
  ['/v1/chat/completions', 'v1_chat_completions'],
  ['/items/{id}/parts.json', 'items_id_parts_json'],
  [`/${'a'.repeat(80)}`, 'a'.repeat(64)],
])('the tool of %s has the name %s', (path, name) => {
  expect(toolNameOf(path)).toBe(name)
})

test('products of one path differ by their method, and the first keeps the plain name', () => {
  const [first] = endpoints
  if (first === undefined) throw new Error('there are products')
  const two = [
    { ...first, path: '/api/orders' },
    { ...first, path: '/api/orders', method: 'POST' as const },
  ]
  expect([...nameTools(two)].map(([name, { method }]) => `${name} ${method}`)).toEqual([
    'orders GET',
    'orders_post POST',
  ])
})

test('a product never takes the name of a free tool, and the list of prices has the names of the tools', async () => {
  const [first] = endpoints
  if (first === undefined) throw new Error('there are products')
  const sold = ['/a/b', '/a_b', '/list/prices'].map((path) => ({ ...first, path }))
  const raw = { ...first, path: '/a.b', rawBody: { contentTypes: ['image/png'] } }
  const products = [...sold, raw].map(({ path, summary }) => {
    return { path, summary, priceUSD: 1, requiredTokens: null, available: true }
  })
  const catalog: FreeRoute = {
    path: '/api/catalog',
    serve: () => Promise.resolve({ status: 200, headers: {}, body: JSON.stringify({ data: { products, token: {} } }) }),
  }
  const { listed, free, paid } = openTools([...sold, raw], [catalog])
  const names = listed.map(({ name }) => name)
  expect(names).toEqual(['a_b', 'a_b_get', 'list_prices_get', 'list_prices'])
  const facts = {
    requestId: '',
    limitQuotes: () => undefined,
    limitLookups: () => undefined,
    onClaimed: () => undefined,
  }
  const carrier = { header: () => undefined, facts, signal: new AbortController().signal } as never
  const call = { name: 'list_prices', arguments: {}, meta: {} }
  const { structuredContent } = await assertPresent(free.get('list_prices'), 'it is free').serve(call, carrier)
  const shown = z.object({ products: z.array(z.object({ tool: z.string() })) }).parse(structuredContent)
  expect(shown.products.map(({ tool }) => tool)).toEqual([...paid.keys()])
})

import { expect, test } from 'vitest'
import { llmsText, paymentInfo, x402Resources } from '../../src/document/discovery.ts'
import { products } from '../../src/endpoints/catalog.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { shownParameters } from '../../src/document/productTable.ts'

const endpoints = products.map((product) => ({
  ...product,
  whyUnavailable: () => undefined,
  suppliedBy: () => 'providers' as const,
  probes: [],
  read: () => ({ ok: false, issues: [] }) as const,
}))
const rails = [{ name: 'x402', mount: '/x402' }, { name: 'native' }]
const deps = { endpoints, rails, split: defaultSplit }

test('an indexer finds each product once below the mount, and none without a rail that has one', () => {
  const { resources } = JSON.parse(JSON.stringify(x402Resources(deps, 'https://api.example')))
  expect(resources).toEqual(products.map(({ path }) => `https://api.example/x402${path}`))
  const without = JSON.parse(JSON.stringify(x402Resources({ ...deps, rails: [{ name: 'native' }] }, '')))
  expect(without.resources).toEqual([])
})

test('the page for language models has every product with its parameters, and the mount', () => {
  const text = llmsText(deps, 'https://api.example')
  expect(text).toMatch(/^# Tollbook\n\n> /)
  for (const { method, path } of products) expect(text).toMatch(new RegExp(`^- \`${method} ${path}\`: .*`, 'm'))
  for (const { parameters } of products) expect(text).toContain(shownParameters(parameters))
  expect(text).toContain('send the same request to `/x402`')
})

test('an operation names its price in dollars and the protocols that pay it', () => {
  const [crypto] = endpoints
  expect(crypto && paymentInfo(crypto, rails)).toEqual({
    price: { mode: 'fixed', currency: 'USD', amount: '0.02' },
    protocols: [{ x402: {} }, { native: {} }],
  })
})

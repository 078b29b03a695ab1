import { PaymentInfo } from 'mppx/discovery'
import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { type DescribedRail, llmsText, paymentInfo, x402Resources } from '../../src/document/discovery.ts'
import { freeOperations, freeOperationsAt } from '../../src/document/freeOperations.ts'
import { defaultSeller } from '../../src/product/seller.ts'
import { products, searches } from '../support/builtinProducts.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { referenceNumber, settlementOf } from '../payment/paymentStory.ts'
import { shownParameters } from '../../src/document/shownParameters.ts'

const endpoints = products.map((product) => ({
  ...product,
  whyUnavailable: () => undefined,
  suppliedBy: () => 'providers' as const,
  probes: [],
  read: () => ({ ok: false, issues: [] }) as const,
}))
const { price } = settlementOf(referenceNumber(1))
const charge = { method: 'solana', intent: 'charge' }
const rails: readonly DescribedRail[] = [
  { name: 'x402', description: { protocol: 'x402', request: 'to `/x402` + path', mount: '/x402' } },
  { name: 'mpp', description: { protocol: 'MPP', request: 'with `Accept-Payment: solana/charge`', offer: charge } },
  { name: 'native' },
]
const token = { symbol: 'TOLL', sourceUrl: 'https://exchange.example/toll' }
const terms = { mint: price.mint, network: 'solana:x' }
const deps = { endpoints, searches, rails, split: defaultSplit, token, terms, seller: defaultSeller, dollars: [] }

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

test('the page for language models names the token, its mint and its source, and the SOL that a payment takes', () => {
  const text = llmsText(deps, '')
  expect(text).toContain(
    `The token is TOLL (mint ${terms.mint}, available at https://exchange.example/toll), on solana:x.`,
  )
  expect(text).toContain('about 0.00001 SOL')
  expect(llmsText({ ...deps, token: { symbol: 'TOLL' } }, '')).not.toContain('available at')
})

test('the page for language models names tabs where they are sold', () => {
  expect(llmsText(deps, '')).not.toContain('A tab pays')
  const [first] = endpoints
  const tabs = { ...assertPresent(first, 'there are products'), path: '/api/tabs', isDeposit: true } as const
  expect(llmsText({ ...deps, endpoints: [...endpoints, tabs] }, '')).toContain('A tab pays')
})

test('the page for language models says how a client of MPP asks, where one can pay', () => {
  expect(llmsText(deps, '')).toContain('send the same request with `Accept-Payment: solana/charge`')
  expect(llmsText({ ...deps, rails: [{ name: 'native' }] }, '')).not.toContain('MPP')
})

test('an operation names its price in dollars, the protocols that pay it, and the offers of MPP', () => {
  const [crypto] = endpoints
  const own = { symbol: 'USDC', mint: 'Dollar', decimals: 6, paymentWallet: 'Wallet' }
  const dollar = { ...own, rails: ['mpp'], minimumMicroUsd: 0n, burn: 'token' as const }
  const dollars = [
    { ...dollar, description: '' },
    { ...dollar, minimumMicroUsd: 1_000_000_000n, description: '' },
  ]
  const info = crypto && paymentInfo(crypto, rails, { mint: 'Mint', dollars, requiredBaseUnits: 20_000_000n })
  const inDollars = { ...charge, amount: '20000', currency: 'Dollar', description: crypto?.summary }
  const offer = { ...charge, amount: '20000000', currency: 'Mint', description: crypto?.summary }
  expect(info).toEqual({
    price: { mode: 'fixed', currency: 'USD', amount: '0.02' },
    protocols: [{ x402: {} }, { mpp: { ...charge, currency: 'Mint' } }, { native: {} }],
    offers: [offer, inDollars],
  })
  expect(PaymentInfo.parse(info)).toEqual({ offers: [offer, inDollars] })
})

test('an offer of MPP has no amount while the token has no price, and nothing else has an offer', () => {
  const [crypto] = endpoints
  const infoOf = (names: typeof rails) =>
    crypto && paymentInfo(crypto, names, { mint: 'Mint', requiredBaseUnits: undefined })
  expect(infoOf(rails)).toMatchObject({ offers: [{ amount: null }] })
  expect(infoOf([{ name: 'native' }])).not.toHaveProperty('offers')
})

const operationsAt = (path: string) =>
  Object.entries(freeOperationsAt(path, assertPresent(freeOperations[path], 'it is documented')))

test('the health and the readiness have the same answer under 503, and the liveness has none', () => {
  const statusesOf = (path: string) =>
    operationsAt(path).flatMap(([, operation]) => Object.keys(Object(operation)['responses']))
  expect(['/api/health', '/readyz', '/livez'].map(statusesOf)).toEqual([
    ['200', '429', '503'],
    ['200', '429', '503'],
    ['200', '429'],
  ])
})

test('a tab also has the operations that replace its keys and close it, which a wallet signs', () => {
  const shown = operationsAt('/api/tabs/:tab').map(([method, operation]) => {
    const { operationId, responses, requestBody } = Object(operation)
    return [method, operationId, '401' in responses, requestBody !== undefined]
  })
  expect(shown).toEqual([
    ['get', 'getApiTabsTab', false, false],
    ['post', 'postApiTabsTab', true, true],
    ['delete', 'deleteApiTabsTab', true, false],
  ])
})

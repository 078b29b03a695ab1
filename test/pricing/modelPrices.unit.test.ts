import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { meteredPriceOf } from '../../src/pricing/meteredPrice.ts'
import { findModelPriceProblems, parseModelPrices } from '../../src/pricing/modelPrices.ts'
import { priceEntries } from '../../src/pricing/priceList.ts'
import { soldProducts } from '../../src/start/products/soldProducts.ts'
import { products } from '../support/builtinProducts.ts'

test('a model has a price, and a limit of tokens where one is given', () => {
  expect(parseModelPrices('large=0.25, vendor/huge:free=1.5:8192')).toEqual({
    ok: true,
    value: new Map([
      ['large', { priceMicroUsd: 250_000n, outputTokensMax: undefined }],
      ['vendor/huge:free', { priceMicroUsd: 1_500_000n, outputTokensMax: 8_192 }],
    ]),
  })
})

test.each([
  ['large', 'has "large": write model=price'],
  ['=1', 'has "=1": write model=price'],
  ['a#b=1', 'has "a#b=1": write model=price'],
  ['large=0', 'has "large=0": the price must be a decimal number'],
  ['large=-1', 'has "large=-1": the price must be a decimal number'],
  ['large=1:0', 'has "large=1:0": the tokens must be a whole number from 1 to 32768'],
  ['large=1:32769', 'has "large=1:32769": the tokens must be a whole number from 1 to 32768'],
  ['large=1:2:3', 'has "large=1:2:3": the tokens must be a whole number from 1 to 32768'],
  ['large=1,large=2', 'names "large" more than once'],
])('%j is refused with the entry and the fix', (setting, problem) => {
  const parsed = parseModelPrices(setting)
  expect(parsed.ok ? [] : parsed.problems).toEqual([expect.stringContaining(problem)])
})

test('a price must be of a model on offer that is not the one of requests without a model', () => {
  const prices = new Map(['small', 'gone'].map((name) => [name, { priceMicroUsd: 1n, outputTokensMax: undefined }]))
  expect(findModelPriceProblems(prices, ['small', 'large'])).toEqual([
    expect.stringContaining('the model of requests that name none'),
    expect.stringContaining('names "gone", which no server offers. The models are small, large'),
  ])
})

const limits = { aiTokenPrices: new Map(), aiOutputTokensMax: 1_024 }

test('the price list has an entry for each model of each chat product, and without prices of models it is as before', () => {
  const settings = { prices: new Map(), productsOff: new Set<string>() }
  const aiServers = [{ baseUrl: 'http://x/v1', models: ['small', 'large'] as const, apiKey: undefined }]
  const aiModelPrices = new Map([['large', { priceMicroUsd: 250_000n, outputTokensMax: undefined }]])
  const entries = priceEntries(
    soldProducts(products, settings, { ...limits, aiServers: [...aiServers], aiModelPrices }),
  )
  expect(entries.filter(({ endpoint }) => endpoint.includes('#'))).toEqual([
    { endpoint: '/api/ai/chat#large', priceMicroUsd: 250_000n },
    { endpoint: '/v1/chat/completions#large', priceMicroUsd: 250_000n },
  ])
  const plain = soldProducts(products, settings, { ...limits, aiServers: [], aiModelPrices: new Map() })
  expect(priceEntries(plain).map(({ endpoint }) => endpoint)).toEqual(products.map(({ path }) => path))
})

test('a model without a price by use has one that follows from its own price and its own limit of tokens', () => {
  const settings = { prices: new Map(), productsOff: new Set<string>() }
  const aiServers = [{ baseUrl: 'http://x/v1', models: ['small', 'large', 'huge'] as const, apiKey: undefined }]
  const aiModelPrices = new Map([
    ['large', { priceMicroUsd: 250_000n, outputTokensMax: undefined }],
    ['huge', { priceMicroUsd: 900_000n, outputTokensMax: 8_192 }],
  ])
  const models = { ...limits, aiServers: [...aiServers], aiModelPrices }
  const deposit = { ...assertPresent(products[0], 'a product'), path: '/deposit', isDeposit: true } as const
  const sold = soldProducts([...products, deposit], settings, models)
  const chats = sold.filter(({ variants }) => variants !== undefined)
  expect(chats).toHaveLength(2)
  for (const { priceMicroUsd, metered, variants } of chats) {
    expect(metered).toEqual(meteredPriceOf(priceMicroUsd, 1_024))
    expect(variants).toMatchObject([
      { name: 'large', metered: meteredPriceOf(250_000n, 1_024) },
      { name: 'huge', metered: meteredPriceOf(900_000n, 8_192) },
    ])
  }
})

test('two products at one path refuse the start', () => {
  const twice = [...products, ...products.slice(0, 1)]
  const settings = { prices: new Map(), productsOff: new Set<string>() }
  expect(() => soldProducts(twice, settings, { ...limits, aiServers: [], aiModelPrices: new Map() })).toThrow(
    'two products are sold at /api/data/crypto. Choose another path in the products file',
  )
})

test('a products file cannot sell the list of models of the built-in chat', () => {
  const own = { ...assertPresent(products[0], 'a product'), path: '/v1/models', providers: [] }
  const sell = (all: typeof products, productsOff: ReadonlySet<string>) =>
    soldProducts(all, { prices: new Map(), productsOff }, { ...limits, aiServers: [], aiModelPrices: new Map() })
  expect(() => sell([...products, own], new Set())).toThrow('/v1/models lists the models of the built-in chat')
  const chats = products.filter(({ providers }) => providers.includes('AI')).map(({ path }) => path)
  expect(sell([...products, own], new Set(chats)).at(-1)?.path).toBe('/v1/models')
})

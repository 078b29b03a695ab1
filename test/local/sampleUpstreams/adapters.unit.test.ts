import { beforeAll, expect, test } from 'vitest'
import { createCoinGecko } from '../../../src/products/crypto/providers/coinGecko.ts'
import { createCoinPaprika } from '../../../src/products/crypto/providers/coinPaprika.ts'
import { coinOf } from '../../../src/products/crypto/providers/coin.ts'
import { createGdelt } from '../../../src/products/news/providers/gdelt.ts'
import { createKraken } from '../../../src/products/crypto/providers/kraken.ts'
import { createMetNorway } from '../../../src/products/weather/providers/metNorway.ts'
import { openYahoo } from '../../../src/products/stock/providers/yahoo.ts'
import { createOpenMeteo } from '../../../src/products/weather/providers/openMeteo.ts'
import type { ProviderDeps } from '../../../src/sourcing/provider.ts'
import { tickerOf } from '../../../src/products/stock/providers/ticker.ts'
import { isAsked, upstreamNames } from '../../../src/product/providerTerms.ts'
import type { ProductOrder } from '../../../src/product/productFacts.ts'
import { createUpstream } from '../../../src/outbound/upstream.ts'
import { assert, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../../src/machine/log.ts'
import { onlyData, products, sourcedProducts } from '../../support/builtinProducts.ts'
import { fixtureMs, openHeldSamples } from './heldSamples.ts'

/* Every adapter reads the sample of its provider, so that each fallback works when the provider before it fails. */

const clock = { ...systemClock, nowMs: () => fixtureMs }
let deps: ProviderDeps
beforeAll(async () => {
  const { upstreams } = await openHeldSamples()
  const upstreamDeps = { clock, log: silentLog, version: '0', contact: 'tests', onCall: () => undefined }
  deps = {
    clock,
    log: silentLog,
    upstreams,
    sampleUpstreams: true,
    isProbed: false,
    openUpstream: (options) => createUpstream(upstreamDeps, options),
  }
})

const solana = assertPresent(coinOf('SOL'), 'SOL is in our list')
const coin = { symbol: 'SOL', coin: solana }
const share = { symbol: 'AAPL', ticker: tickerOf('AAPL') }
const newYork = { latitude: 40.71427, longitude: -74.00597 }
const never = new AbortController().signal

test.each([
  ['CoinGecko', () => createCoinGecko(deps).ask(coin)],
  ['CoinPaprika', () => createCoinPaprika(deps).ask(coin)],
  ['Yahoo', () => openYahoo(deps)?.prices.ask(share)],
  ['MET Norway', () => createMetNorway(deps).ask(newYork)],
  ['Open-Meteo', () => createOpenMeteo(deps).ask(newYork)],
])('%s gives an observation of the last day', async (_name, ask) => {
  const { data, asOfMs } = assertPresent(await ask(), 'the samples have every key')
  expect(data).toBeDefined()
  expect(Math.abs(fixtureMs - asOfMs)).toBeLessThan(24 * 60 * 60 * 1000)
})

test('Kraken gives a second opinion on the price', async () => {
  expect((await createKraken(deps).ask(coin)).figures['price']).toBeGreaterThan(100)
})

test('GDELT gives articles that say that they are samples', async () => {
  const articles = await createGdelt(deps).latest('crypto', never)
  expect(articles.length).toBeGreaterThan(0)
  for (const { title } of articles) expect(title).toMatch(/^Sample: /)
})

test('every provider that is asked without a key has a sample, so that local mode reaches no other', () => {
  const asked = new Set(products.flatMap(({ providers }) => providers))
  const keyless = [...asked].filter(
    (name) => upstreamNames.some((one) => one === name) && isAsked(name, deps.upstreams),
  )
  expect(Object.keys(deps.upstreams).toSorted()).toEqual(keyless.toSorted())
})

/** Orders besides those of the demo and of the example, by path. */
const orders: Readonly<Record<string, readonly ProductOrder[]>> = {
  '/api/data/crypto': [
    { symbol: 'SOL', currency: 'JPY', details: 'true', more: 'BTC,ETH' },
    { symbol: 'BTC', history: '1d' },
    { symbol: 'BTC', history: '30d' },
    { coinId: 'litecoin', history: '7d' },
  ],
  '/api/data/stock': [
    { symbol: 'VOD.L', history: '1y', details: 'true' },
    { symbol: 'AAPL', history: '5d' },
  ],
  '/api/data/weather': [{ city: 'London', hours: '6', days: '3', units: 'imperial', details: 'true' }],
}
const sold = sourcedProducts.flatMap((product) => {
  const own = [product.demo.order({ pageUrl: 'https://example.com/' }), product.example.order]
  return [...own, ...(orders[product.path] ?? [])].map((order) => [product.path, order, product] as const)
})

test.each(sold)(
  '%s is sold over the samples with %j, and its answer is that of the catalog',
  async (_, order, product) => {
    const { read } = await product.open(onlyData(deps))
    const ordered = read(order)
    assert(ordered.ok, 'the order is legal')
    const found = await ordered.deliver({ signal: never, requestId: 'r', payer: 'wallet', payment: 'payment' })
    assert(found.kind === 'delivered', JSON.stringify(found))
    const answer = product.answer.safeParse(found.data)
    expect(answer.error).toBeUndefined()
    expect(found.data).toEqual(answer.data)
    if ('history' in order) expect(found.meta).toHaveProperty('history.source')
  },
)

import { beforeAll, expect, test } from 'vitest'
import { crypto } from '../../../src/products/crypto/crypto.ts'
import { openEndpoint, type ProductDefinition } from '../../../src/product/productDefinition.ts'
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
import { news } from '../../../src/products/news/news.ts'
import { isAsked } from '../../../src/sourcing/providerTerms.ts'
import { stock } from '../../../src/products/stock/stock.ts'
import { weather } from '../../../src/products/weather/weather.ts'
import { createUpstream } from '../../../src/outbound/upstream.ts'
import { assert, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../../src/machine/log.ts'
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
  const asked = [crypto, stock, weather, news].flatMap(({ providers }) => providers)
  const keyless = asked.filter((name) => name !== 'NEWS_FEEDS' && isAsked(name, deps.upstreams))
  expect(Object.keys(deps.upstreams).toSorted()).toEqual(keyless.toSorted())
})

const dataProducts = { crypto, stock, weather } as const satisfies Record<string, ProductDefinition<ProviderDeps>>
test.each<[keyof typeof dataProducts, Readonly<Record<string, string>>]>([
  ['crypto', { symbol: 'SOL', currency: 'JPY', details: 'true', more: 'BTC,ETH' }],
  ['crypto', { symbol: 'BTC', history: '1d' }],
  ['crypto', { symbol: 'BTC', history: '30d' }],
  ['crypto', { coinId: 'litecoin', history: '7d' }],
  ['stock', { symbol: 'VOD.L', history: '1y', details: 'true' }],
  ['stock', { symbol: 'AAPL', history: '5d' }],
  ['weather', { city: 'London', hours: '6', days: '3', units: 'imperial', details: 'true' }],
])('%s is sold over the samples with %j, and its answer is that of the catalog', async (name, order) => {
  const product: ProductDefinition<ProviderDeps> = dataProducts[name]
  const read = openEndpoint(product, deps).read(order)
  assert(read.ok, 'the order is legal')
  const sold = await read.deliver({ signal: never, requestId: 'r', payer: 'wallet', payment: 'payment' })
  assert(sold.kind === 'delivered', JSON.stringify(sold))
  const answer = product.answer.safeParse(sold.data)
  expect(answer.error).toBeUndefined()
  expect(sold.data).toEqual(answer.data)
  if ('history' in order) expect(sold.meta).toHaveProperty('history.source')
})

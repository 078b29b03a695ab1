import { beforeAll, expect, test } from 'vitest'
import { crypto } from '../../../src/products/crypto/crypto.ts'
import { openEndpoint, type ProductDefinition } from '../../../src/product/productDefinition.ts'
import { createCoinGecko } from '../../../src/products/crypto/providers/coinGecko.ts'
import { createCoinPaprika } from '../../../src/products/crypto/providers/coinPaprika.ts'
import { coinOf } from '../../../src/products/crypto/providers/coin.ts'
import { createDexscreener } from '../../../src/market/dexscreener.ts'
import { createGdelt } from '../../../src/products/news/providers/gdelt.ts'
import { createGeckoterminal } from '../../../src/market/geckoterminal.ts'
import { createGuardian } from '../../../src/products/news/providers/guardian.ts'
import { createJupiter } from '../../../src/market/jupiter.ts'
import { createKraken } from '../../../src/products/crypto/providers/kraken.ts'
import { createMetNorway } from '../../../src/products/weather/providers/metNorway.ts'
import { openEodhd } from '../../../src/products/stock/providers/eodhd.ts'
import { createOpenMeteo } from '../../../src/products/weather/providers/openMeteo.ts'
import type { ProviderDeps } from '../../../src/sourcing/provider.ts'
import { tickerOf } from '../../../src/products/stock/providers/ticker.ts'
import { openTwelveData } from '../../../src/products/stock/providers/twelveData.ts'
import { stock } from '../../../src/products/stock/stock.ts'
import { weather } from '../../../src/products/weather/weather.ts'
import { createUpstream } from '../../../src/outbound/upstream.ts'
import { upstreamNames } from '../../../src/product/upstreamName.ts'
import { assert, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../../src/machine/log.ts'
import { fixtureMint, fixtureMs, openHeldSamples } from './heldSamples.ts'

/* Every adapter reads the sample of its provider, so that each fallback works when the provider before it fails. */

const clock = { ...systemClock, nowMs: () => fixtureMs }
let deps: ProviderDeps
beforeAll(async () => {
  const { originOf, apiKey } = await openHeldSamples()
  const upstreamDeps = { clock, log: silentLog, version: '0', contact: 'tests', onCall: () => undefined }
  deps = {
    clock,
    log: silentLog,
    upstreams: Object.fromEntries(
      upstreamNames.filter((name) => name !== 'YAHOO').map((name) => [name, { url: originOf(name), apiKey }]),
    ),
    sampleUpstreams: true,
    isProbed: false,
    openUpstream: (options) => createUpstream(upstreamDeps, options),
  }
})

const solana = assertPresent(coinOf('SOL'), 'SOL is in our list')
const coin = { symbol: 'SOL', coin: solana }
const share = { symbol: 'AAPL', ticker: tickerOf('AAPL') }
const newYork = { latitude: 40.71427, longitude: -74.00597 }
const token = { address: fixtureMint, decimals: 6 }
const never = new AbortController().signal

test.each([
  ['CoinGecko', () => createCoinGecko(deps).ask(coin)],
  ['CoinPaprika', () => createCoinPaprika(deps).ask(coin)],
  ['EODHD', () => openEodhd(deps)?.prices.ask(share)],
  ['Twelve Data', () => openTwelveData(deps)?.prices.ask(share)],
  ['MET Norway', () => createMetNorway(deps).ask(newYork)],
  ['Open-Meteo', () => createOpenMeteo(deps).ask(newYork)],
  ['Jupiter', () => createJupiter(deps).ask(token)],
  ['DexScreener', () => createDexscreener(deps).ask(token)],
  ['GeckoTerminal', () => createGeckoterminal(deps).ask(token)],
])('%s gives an observation of the last day', async (_name, ask) => {
  const { data, asOfMs } = assertPresent(await ask(), 'the samples have every key')
  expect(data).toBeDefined()
  expect(Math.abs(fixtureMs - asOfMs)).toBeLessThan(24 * 60 * 60 * 1000)
})

test('Kraken gives a second opinion on the price', async () => {
  expect((await createKraken(deps).ask(coin)).figures['price']).toBeGreaterThan(100)
})

test.each([
  ['GDELT', () => createGdelt(deps).latest('crypto', never)],
  ['the Guardian', () => createGuardian(deps)?.latest('sports', never)],
])('%s gives articles that say that they are samples', async (_name, ask) => {
  const articles = (await ask()) ?? []
  expect(articles.length).toBeGreaterThan(0)
  for (const { title } of articles) expect(title).toMatch(/^Sample: /)
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

import { describe, expect, test } from 'vitest'
import { coinOf } from '../../src/products/crypto/providers/coin.ts'
import { createCoinGeckoHistory } from '../../src/products/crypto/providers/coinGeckoHistory.ts'
import { createCoinGeckoRates } from '../../src/products/crypto/providers/coinGeckoRates.ts'
import { openCoinGecko } from '../../src/products/crypto/providers/coinGeckoUpstream.ts'
import { createCoinPaprika } from '../../src/products/crypto/providers/coinPaprika.ts'
import { type CryptoFigures, cryptoObservation } from '../../src/products/crypto/providers/cryptoPrice.ts'
import { ratesAgreement } from '../../src/products/crypto/providers/exchangeRate.ts'
import { createKraken } from '../../src/products/crypto/providers/kraken.ts'
import { createKrakenHistory, openKrakenTables } from '../../src/products/crypto/providers/krakenTables.ts'
import { type Answering, startLoopbackProvider } from '../support/loopbackProvider.ts'
import { buyOrder, startPriceServers } from '../support/priceStage.ts'
import { openProviderFixture } from '../support/providerFixture.ts'
import { kindOf, sampleAnswer, sampleTimeMs, withField } from '../support/upstreamSample.ts'

const server = await startLoopbackProvider()
const openPrices = await startPriceServers()
const bitcoin = { symbol: 'BTC', coin: coinOf('BTC') }

function open(answering: Answering) {
  server.answer(answering)
  const setting = { url: server.url }
  return openProviderFixture({ COINGECKO: setting, COINPAPRIKA: setting, KRAKEN: setting }, sampleTimeMs).deps
}

describe('the figures of a coin', () => {
  const figures: CryptoFigures = {
    id: 'bitcoin',
    symbol: 'BTC',
    name: 'Bitcoin',
    rank: 1,
    price: 100,
    changePercent: 10,
    volume: 5_000,
    marketCap: 10_000,
    updatedAt: '2026-11-20T12:00:00Z',
    others: Array.from({ length: 12 }, (_, nth) => `other-${nth}`),
  }
  const judge = (more: Partial<CryptoFigures>) => () => cryptoObservation(bitcoin, { ...figures, ...more })

  test.each<[string, Partial<CryptoFigures>, Partial<CryptoFigures>]>([
    ['a supply 20 % off', { supply: 120 }, { supply: 121 }],
    ['more coins than exist', { supplyMax: 84 }, { supplyMax: 83 }],
    ['a price above the range of the day', { high: 96 }, { high: 95 }],
    ['a price below the range of the day', { low: 105 }, { low: 106 }],
    ['a change of another size', { changeAmount: 10.7 }, { changeAmount: 12 }],
    ['a change of another sign', { changeAmount: 9.2 }, { changeAmount: -9.2 }],
    ['a change of everything', { changePercent: -99.9 }, { changePercent: -100 }],
    ['a change of no coin', { changePercent: 1e9 }, { changePercent: 1.01e9 }],
    ['a price of no coin', { price: 1e8, marketCap: 1e10 }, { price: 1.01e8, marketCap: 1e10 }],
    ['a market of no coin', { marketCap: 1e14 }, { marketCap: 1.01e14 }],
    ['a volume of no coin', { volume: 1e14 }, { volume: 1.01e14 }],
    ['no volume', { volume: 1 }, { volume: 0 }],
  ])('with %s are refused, and just within the bound they are sold', (_what, within, beyond) => {
    expect(judge(within)).not.toThrow()
    expect(judge(beyond)).toThrow()
  })

  test('name at most ten other coins, and the id in place of a name with markup', () => {
    const { meta } = judge({ name: 'A <b>' })()
    expect(meta).toMatchObject({ name: 'bitcoin', alternatives: figures.others.slice(0, 10) })
    expect(judge({ others: [] })().meta).not.toHaveProperty('alternatives')
  })
})

describe('a history', () => {
  const range = { ...bitcoin, range: '1d', coinGeckoId: 'bitcoin', price: 77_671 } as const

  test('of CoinGecko begins half an hour before the times that it states', async () => {
    const deps = open(sampleAnswer('coingecko/ohlc-bitcoin-1d'))
    const { data, asOfMs } = await createCoinGeckoHistory(openCoinGecko(deps), deps.clock).ask(range)
    expect([data.bars[0]?.startMs, data.bars.at(-1)?.startMs]).toEqual([1_795_091_400_000, 1_795_176_000_000])
    expect([data.intervalMs, asOfMs]).toEqual([1_800_000, 1_795_177_800_000])
  })

  test('of Kraken has its volume, and its running bar is within 3 % of the price', async () => {
    const deps = open(sampleAnswer('kraken/ohlc-xbtusd'))
    const kraken = createKrakenHistory(openKrakenTables(deps), deps.clock)
    const { data } = await kraken.ask(range)
    expect(data.bars[0]).toMatchObject({ open: 77_386.5, high: 77_466.5, low: 77_331.5, close: 77_406.5, volume: 41.5 })
    expect(await kindOf(kraken.ask({ ...range, price: 77_671 * 1.029 }))).toMatch(/^answered/)
    expect(await kindOf(kraken.ask({ ...range, price: 77_671 * 1.032 }))).toBe('incomplete')
  })

  test('of another range is another question', async () => {
    const { crypto } = openPrices()
    expect(await buyOrder(crypto, { symbol: 'BTC', history: '1d' })).toMatchObject({ kind: 'delivered' })
    expect(await buyOrder(crypto, { symbol: 'BTC', history: '7d' })).toMatchObject({ kind: 'failed' })
  })
})

test('an answer of Kraken about two pairs confirms none', async () => {
  const two = withField(['result', 'XETHZUSD'], { c: ['1.0', '1'] })
  const asked = createKraken(open(sampleAnswer('kraken/ticker-xbtusd', two))).ask(bitcoin)
  expect(await kindOf(asked)).toBe('bad_payload')
})

test('the coins that can ever exist bound the market at CoinPaprika, or those that exist if it names no maximum', async () => {
  const supplied = (max: number | null) =>
    sampleAnswer('coinpaprika/ticker-btc', (body) =>
      withField(['max_supply'], max)(withField(['total_supply'], 10_000_000)(body)),
    )
  for (const [max, kind] of [
    [21_000_000, /^answered/],
    [null, /^incomplete$/],
    [0, /^incomplete$/],
  ] as const)
    expect(await kindOf(createCoinPaprika(open(supplied(max))).ask(bitcoin))).toMatch(kind)
})

test('a rate of CoinGecko is one of a currency, and each is bounded against the last known one', async () => {
  const rateOf = (type: string) => {
    const deps = open(sampleAnswer('coingecko/exchange-rates', withField(['rates', 'eur', 'type'], type)))
    return kindOf(createCoinGeckoRates(openCoinGecko(deps), deps.clock).ask({}))
  }
  expect(await rateOf('fiat')).toMatch(/^answered/)
  expect(await rateOf('crypto')).toBe('incomplete')
  expect(Object.keys(ratesAgreement.jumps)).toEqual(Object.keys(ratesAgreement.tolerances))
})

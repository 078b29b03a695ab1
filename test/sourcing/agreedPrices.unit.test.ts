import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { cryptoAgreement } from '../../src/products/crypto/providers/cryptoPrice.ts'
import { ratesAgreement } from '../../src/products/crypto/providers/exchangeRate.ts'
import { stockAgreement } from '../../src/products/stock/providers/stockPrice.ts'
import { weatherAgreement } from '../../src/products/weather/providers/weatherAgreement.ts'
import { type Answering, text } from '../support/loopbackProvider.ts'
import { buySymbol as buy, down, orderOf, startPriceServers } from '../support/priceStage.ts'
import { sampleAnswer, sampleTimeMs, withField } from '../support/upstreamSample.ts'

const open = await startPriceServers()

type Fields = Readonly<Record<string, unknown>>
const changed = (sample: string, path: readonly (string | number)[], fields: Fields): Answering =>
  sampleAnswer(sample, (body) =>
    Object.entries(fields).reduce((before, [field, value]) => withField([...path, field], value)(before), body),
  )
const gecko = (fields: Fields) => changed('coingecko/markets-btc', [0], fields)
const paprika = (fields: Fields) => changed('coinpaprika/ticker-btc', ['quotes', 'USD'], fields)
const yahoo = (fields: Fields) => changed('yahoo/chart-aapl-1d', ['chart', 'result', 0, 'meta'], fields)
const failed = { kind: 'failed', code: 'UPSTREAM_FAILED' }
const resting = text('', { status: 429, headers: { 'retry-after': '300' } })

describe('a cryptocurrency price', () => {
  const unchecked = { circulating_supply: null, high_24h: null, low_24h: null, price_change_24h: null }
  const bnb = { id: 'binancecoin', symbol: 'bnb', name: 'BNB', ...unchecked }

  test('of a coin that no exchange confirms is not sold when two providers differ, and the refusal says so', async () => {
    const other = sampleAnswer('coinpaprika/ticker-btc', (body) =>
      withField(['id'], 'bnb-binance-coin')(withField(['symbol'], 'BNB')(body)),
    )
    const stage = open({ says: { COINGECKO: gecko({ ...bnb, current_price: 70_000 }), COINPAPRIKA: other } })
    expect(await buy(stage.crypto, 'BNB')).toMatchObject({ ...failed, message: expect.stringMatching(/differ/) })
    stage.say({ COINGECKO: gecko(bnb) })
    expect(await buy(stage.crypto, 'BNB')).toMatchObject({
      kind: 'delivered',
      meta: { agreement: { kind: 'agreed', tolerancePercent: 3 } },
    })
  })

  test('names who agreed and who differed, with their prices and times', async () => {
    const mad = paprika({ price: 70_000 })
    expect(await buy(open({ says: { COINPAPRIKA: mad } }).crypto, 'BTC')).toMatchObject({
      meta: {
        agreement: {
          kind: 'agreed',
          sources: [
            { source: 'coingecko', price: 77671, asOf: '2026-11-20T12:49:21.599Z' },
            { source: 'kraken', price: 77671 },
          ],
          differed: [{ source: 'coinpaprika', price: 70_000, fields: ['price'] }],
        },
      },
    })
  })

  test.each<[string, Fields]>([
    ['a volume in thousands', { total_volume: 33235034316e3 }],
    ['a volume in coins', { total_volume: 427_900 }],
    ['a capitalisation of another coin', { market_cap: 15e9, circulating_supply: null }],
    ['a change of another sign and size', { price_change_percentage_24h: 9.5, price_change_24h: null }],
  ])('%s is not sold though the exchanges confirm the price', async (_what, fields) => {
    expect(await buy(open({ says: { COINGECKO: gecko(fields) } }).crypto, 'BTC')).toMatchObject(failed)
  })

  test.each<[string, Fields]>([
    ['a change that contradicts its amount', { price_change_percentage_24h: -9.5 }],
    ['a price outside its own range of the day', { high_24h: 60_000, low_24h: 59_000 }],
    ['a price over 1e8', { current_price: 1e12, market_cap: 2e19 }],
  ])('%s is refused with the provider that reports it', async (_what, fields) => {
    expect(await buy(open({ says: { COINGECKO: gecko(fields) } }).crypto, 'BTC')).toMatchObject({
      meta: { source: 'coinpaprika' },
    })
  })

  test('of a coin with one source is marked, and its jump since the last known value is not sold', async () => {
    const coin = { id: 'zed', symbol: 'zed', current_price: 2, market_cap: 4e7, total_volume: 1e6 }
    const fields = { ...coin, ...unchecked }
    const stage = open({ says: { COINGECKO: gecko(fields) } })
    expect(await buy(stage.crypto, 'ZED')).toMatchObject({
      kind: 'delivered',
      meta: { agreement: { kind: 'single', unconfirmed: ['price', 'change24h', 'volume24h', 'marketCap'] } },
    })
    stage.clock.forward(61_000)
    stage.say({ COINGECKO: gecko({ ...fields, current_price: 2.2, market_cap: 4.4e7 }) })
    expect(await buy(stage.crypto, 'ZED')).toMatchObject({ data: { price: 2.2 } })
    stage.clock.forward(61_000)
    stage.say({ COINGECKO: gecko({ ...fields, current_price: 4, market_cap: 8e7 }) })
    expect(await buy(stage.crypto, 'ZED')).toMatchObject(failed)
  })

  test('is not confirmed by Kraken’s answer for another pair', async () => {
    const other = sampleAnswer('kraken/ticker-xbtusd', (body) =>
      JSON.parse(JSON.stringify(body).replace('XXBTZUSD', 'XETHZUSD')),
    )
    expect(await buy(open({ says: { KRAKEN: other, COINPAPRIKA: down } }).crypto, 'BTC')).toMatchObject(failed)
  })

  test('is asked of every source at once, and of the scarce one only until a value is known', async () => {
    const stage = open()
    await buy(stage.crypto, 'BTC')
    stage.clock.forward(61_000)
    await buy(stage.crypto, 'BTC')
    expect([stage.askedOf('COINGECKO'), stage.askedOf('KRAKEN'), stage.askedOf('COINPAPRIKA')]).toEqual([2, 2, 1])
  })

  test('of CoinPaprika that contradicts its supply is not sold', async () => {
    const stage = open({ says: { KRAKEN: down, COINGECKO: down, COINPAPRIKA: paprika({ market_cap: 15e15 }) } })
    expect(await buy(stage.crypto, 'BTC')).toMatchObject(failed)
  })
})

describe('a stand-in for CoinGecko', () => {
  // The figures of two providers are near each other, and jumps are measured from what the other one said.
  test.each<[string, Fields]>([
    ['volume', { total_volume: 31175936198 * 8 }],
    ['capitalisation', { market_cap: 1_555_568_051_326 * 1.4, circulating_supply: null, max_supply: null }],
  ])('is sold though CoinGecko, which was sold before, counts the %s differently', async (_what, fields) => {
    const stage = open({ says: { COINGECKO: gecko(fields) } })
    expect(await buy(stage.crypto, 'BTC')).toMatchObject({ meta: { source: 'coingecko' } })
    stage.clock.forward(61_000)
    stage.say({ COINGECKO: down })
    expect(await buy(stage.crypto, 'BTC')).toMatchObject({
      meta: { source: 'coinpaprika', agreement: { kind: 'agreed' } },
    })
  })
})

test.each([
  ['coins', cryptoAgreement],
  ['shares', stockAgreement],
  ['rates', ratesAgreement],
  ['weather', weatherAgreement],
])('no jump of %s is narrower than the tolerance of its field', (_what, { tolerances, jumps }) => {
  for (const [field, jump] of Object.entries(jumps)) {
    const [kind = '', most = 0] = Object.entries(jump)[0] ?? []
    const allowed = z.record(z.string(), z.number()).parse(tolerances[field])[kind]
    expect([field, most]).toEqual([field, Math.max(most, allowed ?? Number.POSITIVE_INFINITY)])
  }
})

test('a price that aggregators agree on is not sold while the exchange contradicts it', async () => {
  const off = sampleAnswer('kraken/ticker-xbtusd', withField(['result', 'XXBTZUSD', 'c', 0], '60000.0'))
  const stage = open({ says: { KRAKEN: off } })
  expect(await buy(stage.crypto, 'BTC')).toMatchObject(failed)
  expect([stage.askedOf('COINGECKO'), stage.askedOf('COINPAPRIKA')]).toEqual([1, 1])
})

describe('a move of more than 30 % in a day', () => {
  const yahooMove = (price: number, previous: number) =>
    yahoo({
      regularMarketPrice: price,
      chartPreviousClose: previous,
      regularMarketDayHigh: price * 1.01,
      regularMarketDayLow: price * 0.99,
    })
  const twelveDataMove = (price: number, previous: number) =>
    changed('twelvedata/quote-aapl', [], {
      close: price.toFixed(5),
      previous_close: previous.toFixed(5),
      percent_change: ((price / previous - 1) * 100).toFixed(5),
      high: (price * 1.01).toFixed(5),
      low: (price * 0.99).toFixed(5),
    })

  test('that one source shows and another does not is not sold: a split that it has not adjusted', async () => {
    const says = { YAHOO: yahooMove(26.74, 266.19), TWELVE_DATA: twelveDataMove(26.74, 26.62) }
    const stage = open({ says })
    expect(await buy(stage.stock, 'AAPL')).toMatchObject(failed)
    expect([stage.askedOf('YAHOO'), stage.askedOf('TWELVE_DATA')]).toEqual([1, 1])
  })

  test('that every source shows is sold', async () => {
    const [price, previous] = [133.72, 266.19]
    const says = { YAHOO: yahooMove(price, previous), TWELVE_DATA: twelveDataMove(price, previous) }
    expect(await buy(open({ says }).stock, 'AAPL')).toMatchObject({
      data: { changePercent: '-49.8%' },
      meta: { agreement: { sources: [{ source: 'twelvedata' }, { source: 'yahoo' }] } },
    })
  })

  test('of a coin is asked of the scarce source too, though a value is known', async () => {
    const stage = open()
    await buy(stage.crypto, 'BTC')
    stage.clock.forward(61_000)
    const move = { price_change_percentage_24h: 35, price_change_24h: null, high_24h: null, low_24h: null }
    stage.say({ COINGECKO: gecko(move), COINPAPRIKA: paprika({ percent_change_24h: 35 }) })
    expect(await buy(stage.crypto, 'BTC')).toMatchObject({ data: { change24h: '+35.00%' } })
    expect(stage.askedOf('COINPAPRIKA')).toBe(2)
  })
})

describe('a stock price', () => {
  test('is asked of two providers, and neither is sold while they differ', async () => {
    const stage = open({ says: { YAHOO: yahoo({ regularMarketPrice: 290, regularMarketDayHigh: 291 }) } })
    expect(await buy(stage.stock, 'AAPL')).toMatchObject({ ...failed, message: expect.stringMatching(/differ/) })
    stage.say({ YAHOO: yahoo({}) })
    expect(await buy(stage.stock, 'AAPL')).toMatchObject({ data: { price: 267.44 } })
  })

  const alone = { TWELVE_DATA: down }

  test('of one provider is not sold while the other that has the share is silent, and the refusal says so', async () => {
    const stage = open({ says: alone })
    expect(await buy(stage.stock, 'AAPL')).toMatchObject({ ...failed, message: expect.stringMatching(/confirmation/) })
    // The first failure was a buyer's; now it rests, and no buyer gets a quote.
    stage.say({ TWELVE_DATA: resting })
    stage.clock.forward(61_000)
    expect(await buy(stage.stock, 'AAPL')).toMatchObject(failed)
    expect(orderOf(stage.stock, { symbol: 'AAPL' }).whyUnavailable()).toMatch(
      /only one source .* another has to confirm/,
    )
  })

  test('of one provider is sold near the value on which sources agreed last, and does not move that value', async () => {
    const stage = open()
    const say = (price: number) =>
      stage.say({ ...alone, YAHOO: yahoo({ regularMarketPrice: price, regularMarketDayHigh: 320 }) })
    await buy(stage.stock, 'AAPL')
    stage.clock.forward(16 * 60_000)
    say(290)
    expect(await buy(stage.stock, 'AAPL')).toMatchObject({
      data: { price: 290 },
      meta: { agreement: { kind: 'last_known', silent: ['twelvedata'] } },
    })
    stage.clock.forward(16 * 60_000)
    say(315)
    expect(await buy(stage.stock, 'AAPL')).toMatchObject(failed)
  })

  test('of a listing that only one provider has is sold and marked', async () => {
    const stage = open({ says: { YAHOO: yahoo({ symbol: '5225.KL', currency: 'MYR' }) } })
    expect(await buy(stage.stock, '5225.KL')).toMatchObject({
      kind: 'delivered',
      meta: { agreement: { kind: 'single', unconfirmed: ['currency', 'price', 'changePercent', 'volume'] } },
    })
  })

  // Each was sold with the mark `single`, though another has the share.
  test.each<[string, Fields]>([
    ['a price 15 % higher', { regularMarketPrice: 307.556, regularMarketDayHigh: 310 }],
    ['a previous close 15 % higher', { chartPreviousClose: 306.12 }],
    ['a thousand times the volume', { regularMarketVolume: 45_018_260_000 }],
    [
      'euros as dollars',
      { regularMarketPrice: 230, chartPreviousClose: 228.92, regularMarketDayHigh: 232.8, regularMarketDayLow: 228.2 },
    ],
  ])('of one provider with %s is not sold while the other is silent', async (_what, fields) => {
    expect(await buy(open({ says: { ...alone, YAHOO: yahoo(fields) } }).stock, 'AAPL')).toMatchObject(failed)
  })

  const afternoonMs = Date.parse('2026-11-20T20:00:00Z')
  const traded = (iso: string) => ({ regularMarketTime: Date.parse(iso) / 1_000 })
  test.each<[string, Fields, number]>([
    ['in another currency than its exchange’s', { currency: 'EUR' }, sampleTimeMs],
    ['outside its own range of the day', { regularMarketDayHigh: 200, regularMarketDayLow: 190 }, sampleTimeMs],
    ['five hours old in an open market', traded('2026-11-20T15:00:00Z'), afternoonMs],
    ['of the session before the last one', traded('2026-11-18T21:00:00Z'), sampleTimeMs],
  ])('%s is not sold without a second provider', async (_what, fields, timeMs) => {
    const stage = open({ timeMs, keys: [], says: { YAHOO: yahoo(fields) } })
    expect(await buy(stage.stock, 'AAPL')).toMatchObject(failed)
  })

  test('in pounds from London, where shares are quoted in pence, is not sold without a second provider', async () => {
    const stage = open({ keys: [], says: { YAHOO: yahoo({ symbol: 'VOD.L', currency: 'GBP' }) } })
    expect(await buy(stage.stock, 'VOD.L')).toMatchObject(failed)
    stage.say({ YAHOO: yahoo({ symbol: 'VOD.L', currency: 'GBp' }) })
    expect(await buy(stage.stock, 'VOD.L')).toMatchObject({ meta: { currency: 'GBP', quotedIn: 'GBp' } })
  })

  test('that jumped since the last known value is not sold without a second provider', async () => {
    const stage = open()
    await buy(stage.stock, 'AAPL')
    stage.clock.forward(61_000)
    // A split of which the provider's other figures know.
    const split = { regularMarketPrice: 66.86, chartPreviousClose: 66.55, regularMarketDayHigh: 67 }
    stage.say({ ...alone, YAHOO: yahoo({ ...split, regularMarketDayLow: 66 }) })
    expect(await buy(stage.stock, 'AAPL')).toMatchObject(failed)
  })

  test('with a part of a share as its volume is not sold, nor one whose previous close moved since the last sale', async () => {
    const stage = open()
    stage.say({ ...alone, YAHOO: yahoo({ regularMarketVolume: 45_018.26 }) })
    expect(await buy(stage.stock, 'AAPL')).toMatchObject(failed)
    stage.say({})
    // The provider that was down has had its rest.
    stage.clock.forward(61_000)
    expect(await buy(stage.stock, 'AAPL')).toMatchObject({ kind: 'delivered' })
    stage.clock.forward(16 * 60_000)
    stage.say({ ...alone, YAHOO: yahoo({ chartPreviousClose: 306.12 }) })
    expect(await buy(stage.stock, 'AAPL')).toMatchObject(failed)
  })

  test('in the wrong currency for its exchange is contradicted by the provider that names the currency', async () => {
    const stage = open({
      keys: ['TWELVE_DATA', 'EODHD'],
      says: {
        TWELVE_DATA: changed('twelvedata/quote-aapl', [], { symbol: '0700', mic_code: 'XHKG', currency: 'CNY' }),
        EODHD: changed('eodhd/real-time-aapl', [], { code: '0700.HK' }),
      },
    })
    expect(await buy(stage.stock, '0700.HK')).toMatchObject(failed)
  })
})

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { cryptoAgreement } from '../../src/products/crypto/providers/cryptoPrice.ts'
import { ratesAgreement } from '../../src/products/crypto/providers/exchangeRate.ts'
import { stockAgreement } from '../../src/products/stock/providers/stockPrice.ts'
import { tokenAgreement } from '../../src/products/crypto/providers/tokenPrice.ts'
import { weatherAgreement } from '../../src/products/weather/providers/weatherAgreement.ts'
import { type Answering, json, text } from '../support/loopbackProvider.ts'
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
const silentExchanges = { COINBASE: down, KRAKEN: down }

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
    const mad = sampleAnswer('coinbase-exchange/ticker-btc-usd', withField(['price'], '1.00'))
    expect(await buy(open({ says: { COINBASE: mad } }).crypto, 'BTC')).toMatchObject({
      meta: {
        agreement: {
          kind: 'agreed',
          sources: [
            { source: 'coingecko', price: 77671, asOf: '2026-11-20T12:49:21.599Z' },
            { source: 'coinpaprika', price: 77655.10263184321, asOf: '2026-11-20T12:47:48.000Z' },
            { source: 'kraken', price: 77671 },
          ],
          differed: [{ source: 'coinbase', price: 1, fields: ['price'] }],
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
    expect(await buy(open({ says: { COINBASE: down, KRAKEN: other, COINPAPRIKA: down } }).crypto, 'BTC')).toMatchObject(
      failed,
    )
  })

  test('is asked of every source at once, and of the scarce one only until a value is known', async () => {
    const stage = open()
    await buy(stage.crypto, 'BTC')
    stage.clock.forward(61_000)
    await buy(stage.crypto, 'BTC')
    expect([stage.askedOf('COINGECKO'), stage.askedOf('KRAKEN'), stage.askedOf('COINPAPRIKA')]).toEqual([2, 2, 1])
  })

  test('of CoinPaprika that contradicts its supply is not sold', async () => {
    const stage = open({ says: { ...silentExchanges, COINGECKO: down, COINPAPRIKA: paprika({ market_cap: 15e15 }) } })
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
  ['tokens', tokenAgreement],
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

describe('a price that aggregators agree on', () => {
  const off = (price: string) => sampleAnswer('coinbase-exchange/ticker-btc-usd', withField(['price'], price))

  test('is not sold while the only exchange that answers contradicts it', async () => {
    const stage = open({ says: { COINBASE: off('60000.00'), KRAKEN: down } })
    expect(await buy(stage.crypto, 'BTC')).toMatchObject(failed)
    expect([stage.askedOf('COINGECKO'), stage.askedOf('COINPAPRIKA')]).toEqual([1, 1])
  })

  test('is sold when another exchange confirms it', async () => {
    expect(await buy(open({ says: { COINBASE: off('60000.00') } }).crypto, 'BTC')).toMatchObject({
      meta: { agreement: { kind: 'agreed', differed: [{ source: 'coinbase' }] } },
    })
  })
})

describe('a move of more than 30 % in a day', () => {
  const yahooMove = (price: number, previous: number) =>
    yahoo({
      regularMarketPrice: price,
      chartPreviousClose: previous,
      regularMarketDayHigh: price * 1.01,
      regularMarketDayLow: price * 0.99,
    })
  const stooqMove = (price: number, previous: number): Answering =>
    sampleAnswer('stooq/light-aapl-with-prev', (body) => {
      const [header = '', row = ''] = String(body).trim().split('\n')
      const [symbol, date, time, _open, _high, _low, _close, volume] = row.split(',')
      const prices = [price, price * 1.01, price * 0.99, price]
      return `${header}\n${[symbol, date, time, ...prices, volume, previous].join(',')}\n`
    })
  const nasdaqMove = (price: number, previous: number) => {
    const change = price - previous
    return changed('nasdaq/info-aapl-closed', ['data', 'primaryData'], {
      lastSalePrice: `$${price.toFixed(2)}`,
      netChange: change.toFixed(2),
      percentageChange: `${((change / previous) * 100).toFixed(2)}%`,
    })
  }

  test('that two sources show and a third does not is not sold: a split that they have not adjusted', async () => {
    const [price, previous] = [26.74, 266.19]
    const says = { YAHOO: yahooMove(price, previous), STOOQ: stooqMove(price, previous) }
    const stage = open({ says: { ...says, NASDAQ: nasdaqMove(price, 26.62) } })
    expect(await buy(stage.stock, 'AAPL')).toMatchObject(failed)
    expect(stage.askedOf('NASDAQ')).toBe(1)
  })

  test('that every source shows is sold', async () => {
    const [price, previous] = [133.72, 266.19]
    const says = { YAHOO: yahooMove(price, previous), STOOQ: stooqMove(price, previous) }
    const stage = open({ says: { ...says, NASDAQ: nasdaqMove(price, previous) } })
    expect(await buy(stage.stock, 'AAPL')).toMatchObject({
      data: { changePercent: '-49.8%' },
      meta: { agreement: { sources: [{ source: 'yahoo' }, { source: 'stooq' }, { source: 'nasdaq' }] } },
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
  test('is asked of two providers, and of a third when they differ: the majority is sold, or nothing', async () => {
    const stage = open({ says: { YAHOO: yahoo({ regularMarketPrice: 290, regularMarketDayHigh: 291 }) } })
    expect(await buy(stage.stock, 'AAPL')).toMatchObject({
      data: { price: 267.44 },
      meta: {
        source: 'stooq',
        agreement: {
          kind: 'agreed',
          sources: [{ source: 'stooq' }, { source: 'nasdaq' }],
          differed: [{ source: 'yahoo', price: 290, fields: ['price', 'changePercent'] }],
        },
      },
    })
    stage.clock.forward(16 * 60_000)
    stage.say({ NASDAQ: down })
    expect(await buy(stage.stock, 'AAPL')).toMatchObject(failed)
  })

  const alone = { STOOQ: down, NASDAQ: down }

  test('of one provider is not sold while the others that have the share are silent, and the refusal says so', async () => {
    const stage = open({ says: alone })
    expect(await buy(stage.stock, 'AAPL')).toMatchObject({ ...failed, message: expect.stringMatching(/confirmation/) })
    // The first failure was a buyer's; now both rest, and no buyer gets a quote.
    stage.say({ STOOQ: resting, NASDAQ: resting })
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
      meta: { agreement: { kind: 'last_known', silent: ['stooq', 'nasdaq'] } },
    })
    stage.clock.forward(16 * 60_000)
    say(315)
    expect(await buy(stage.stock, 'AAPL')).toMatchObject(failed)
  })

  test('of a listing that only one provider has is sold and marked', async () => {
    const stage = open({ says: { YAHOO: yahoo({ symbol: '0700.HK', currency: 'HKD' }) } })
    expect(await buy(stage.stock, '0700.HK')).toMatchObject({
      kind: 'delivered',
      meta: { agreement: { kind: 'single', unconfirmed: ['currency', 'price', 'changePercent', 'volume'] } },
    })
  })

  // Each was sold with the mark `single`, though two others have the share.
  test.each<[string, Fields]>([
    ['a price 15 % higher', { regularMarketPrice: 307.556, regularMarketDayHigh: 310 }],
    ['a previous close 15 % higher', { chartPreviousClose: 306.12 }],
    ['a thousand times the volume', { regularMarketVolume: 45_018_260_000 }],
    [
      'euros as dollars',
      { regularMarketPrice: 230, chartPreviousClose: 228.92, regularMarketDayHigh: 232.8, regularMarketDayLow: 228.2 },
    ],
  ])('of one provider with %s is not sold while the others are silent', async (_what, fields) => {
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
    expect(await buy(open({ timeMs, says: { ...alone, YAHOO: yahoo(fields) } }).stock, 'AAPL')).toMatchObject(failed)
  })

  test('in pounds from London, where shares are quoted in pence, is not sold without a second provider', async () => {
    const stage = open({ says: { YAHOO: yahoo({ symbol: 'VOD.L', currency: 'GBP' }) } })
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
    // The providers that were down have had their rest.
    stage.clock.forward(61_000)
    expect(await buy(stage.stock, 'AAPL')).toMatchObject({ kind: 'delivered' })
    stage.clock.forward(16 * 60_000)
    stage.say({ STOOQ: down, NASDAQ: down, YAHOO: yahoo({ chartPreviousClose: 306.12 }) })
    expect(await buy(stage.stock, 'AAPL')).toMatchObject(failed)
  })

  test.each<[string, Answering]>([
    ['Twelve Data', changed('twelvedata/quote-aapl', [], { previous_close: '240.00000' })],
    ['Nasdaq', changed('nasdaq/info-aapl-closed', ['data', 'primaryData'], { netChange: '+12.50' })],
  ])('of %s whose change contradicts its percentage is not sold', async (name, answering) => {
    const isTwelveData = name === 'Twelve Data'
    const says = { YAHOO: down, STOOQ: down, NASDAQ: isTwelveData ? down : answering }
    const stage = open({ twelveDataKey: 'k', says: { ...says, TWELVE_DATA: isTwelveData ? answering : json({}) } })
    expect(await buy(stage.stock, 'AAPL')).toMatchObject(failed)
  })

  test('of Nasdaq in another currency is not sold', async () => {
    const euro = changed('nasdaq/info-aapl-closed', ['data', 'primaryData'], { currency: 'EUR' })
    expect(await buy(open({ says: { YAHOO: down, STOOQ: down, NASDAQ: euro } }).stock, 'AAPL')).toMatchObject(failed)
  })
})

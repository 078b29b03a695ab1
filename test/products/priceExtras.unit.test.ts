import { describe, expect, test } from 'vitest'
import { crypto } from '../../src/products/crypto/crypto.ts'
import { openEndpoint } from '../../src/product/productDefinition.ts'
import { stock } from '../../src/products/stock/stock.ts'
import type { Answering } from '../support/loopbackProvider.ts'
import { buyOrder, down, honest, orderOf, type PriceProvider, startPriceServers } from '../support/priceStage.ts'
import { sampleAnswer, withField } from '../support/upstreamSample.ts'

const open = await startPriceServers()
const failed = { kind: 'failed', code: 'UPSTREAM_FAILED' }

/** The honest answers, except at one path. */
const except = (name: PriceProvider, part: string, answering: Answering): Answering => {
  return (response, asked) => (asked.url.href.includes(part) ? answering : honest(name))(response, asked)
}

describe('a price in another currency', () => {
  const order = { symbol: 'BTC', currency: 'EUR', details: 'true' }

  test('is the agreed price times a rate on which two sources agree', async () => {
    const perUsd = 1 / 1.1628
    const euros = (usd: number): unknown => expect.closeTo(usd * perUsd, 4)
    expect(await buyOrder(open().crypto, order)).toMatchObject({
      data: {
        symbol: 'BTC',
        price: euros(77_671),
        change24h: '-0.95%',
        marketCap: expect.closeTo(1_555_886_872_303 * perUsd, -2),
        details: {
          currency: 'EUR',
          high24h: euros(78_419),
          low24h: euros(76_696),
          circulatingSupply: 20_030_493,
          rank: 1,
        },
      },
      meta: {
        currency: 'EUR',
        exchangeRate: {
          perUsd,
          source: 'kraken',
          agreement: { kind: 'agreed', sources: [{ source: 'kraken' }, { source: 'coingecko' }] },
        },
      },
    })
    expect(await buyOrder(open().crypto, { ...order, currency: 'JPY' })).toMatchObject({
      data: { price: expect.closeTo(77_671 * 155.02, 4) },
    })
  })

  test.each<[string, Answering]>([
    ['is silent', down],
    ['is of another currency', sampleAnswer('kraken/ticker-rates', withField(['result', 'ZEURZUSD', 'a', 0], '1.31'))],
    ['lacks a currency', sampleAnswer('kraken/ticker-rates', withField(['result', 'ZUSDZJPY'], undefined))],
  ])('is not sold, and dollars are, while one source of rates %s', async (_what, answering) => {
    const stage = open({ says: { KRAKEN: except('KRAKEN', 'EURUSD', answering) } })
    expect(await buyOrder(stage.crypto, order)).toMatchObject(failed)
    expect(await buyOrder(stage.crypto, { symbol: 'BTC', currency: 'USD' })).toMatchObject({ data: { price: 77_671 } })
  })
})

describe('a history', () => {
  test('of a coin has hours in dollars, ends near the agreed price, and names the sources that agree', async () => {
    const outcome = await buyOrder(open().crypto, { symbol: 'BTC', history: '1d' })
    expect(outcome).toMatchObject({
      data: { price: 77_671, history: { intervalMinutes: 60, currency: 'USD' } },
      meta: {
        source: 'coingecko',
        history: {
          source: 'kraken',
          cached: false,
          agreement: { kind: 'agreed', tolerancePercent: 3, sources: [{ source: 'kraken' }, { source: 'coingecko' }] },
        },
      },
    })
    expect(Object(outcome).data.history.bars).toHaveLength(24)
    expect(Object(outcome).data.history.bars.at(-1)).toMatchObject({ time: '2026-11-20T12:00:00.000Z', close: 77_671 })
  })

  const renamed = (body: unknown): unknown => JSON.parse(JSON.stringify(body).replace('XXBTZUSD', 'XETHZUSD'))
  const atHour =
    (hour: number, factor: number, columns: readonly number[] = [1, 2, 3, 4]) =>
    (body: unknown): unknown =>
      columns.reduce<unknown>(
        (before, column) =>
          withField(['result', 'XXBTZUSD', hour, column], String(Math.round(77_520 * factor + column)))(before),
        body,
      )
  const lastBar = (at: number, value: unknown) =>
    sampleAnswer('kraken/ohlc-xbtusd', withField(['result', 'XXBTZUSD', 23, at], value))
  test.each<[string, Answering]>([
    ['is silent', down],
    ['ends far from the price', lastBar(4, '70000.0')],
    ['has a bar whose low is above its close', lastBar(3, '77900.0')],
    ['is of another coin', sampleAnswer('kraken/ohlc-xbtusd', (body) => renamed(body))],
    ['has two bars of one hour', lastBar(0, Date.parse('2026-11-20T11:00:00Z') / 1_000)],
    ['has an hour of other prices', sampleAnswer('kraken/ohlc-xbtusd', atHour(12, 1.15))],
    ['has one high that no other has', sampleAnswer('kraken/ohlc-xbtusd', atHour(12, 1.15, [2]))],
  ])('of a coin that several sources have is not sold if that of Kraken %s', async (_what, answering) => {
    const stage = open({ says: { KRAKEN: except('KRAKEN', 'OHLC', answering) } })
    expect(await buyOrder(stage.crypto, { symbol: 'BTC', history: '1d' })).toMatchObject(failed)
  })

  test('that several sources have is not sold by one of them alone, and one that a single source has says so', async () => {
    const COINGECKO = except('COINGECKO', 'ohlc', down)
    expect(await buyOrder(open({ says: { COINGECKO } }).crypto, { symbol: 'BTC', history: '1d' })).toMatchObject(failed)
    const TWELVE_DATA = except('TWELVE_DATA', 'time_series', down)
    expect(await buyOrder(open({ says: { TWELVE_DATA } }).stock, { symbol: 'AAPL', history: '5d' })).toMatchObject(
      failed,
    )
    const stage = open({ keys: [] })
    expect(await buyOrder(stage.stock, { symbol: 'AAPL', history: '5d' })).toMatchObject({
      meta: { history: { source: 'yahoo', agreement: { kind: 'single', sources: [{ source: 'yahoo' }] } } },
    })
  })

  test('of a coin that Kraken does not trade is quoted while Kraken answers its probes', async () => {
    const { deps } = open()
    const probed = openEndpoint(crypto, { ...deps, isProbed: true })
    for (const liveness of probed.probes) await liveness.probe()
    expect(orderOf(probed, { symbol: 'BNB', history: '1d' }).whyUnavailable()).toBeUndefined()
  })

  test('that no provider has keeps the whole order from being sold', async () => {
    const says = { KRAKEN: except('KRAKEN', 'OHLC', down), COINGECKO: except('COINGECKO', 'ohlc', down) }
    expect(await buyOrder(open({ says }).crypto, { symbol: 'BTC', history: '1d' })).toMatchObject(failed)
  })

  test('of a share has its days, adjusted for splits, in the currency of the price', async () => {
    const outcome = await buyOrder(open().stock, { symbol: 'AAPL', history: '5d' })
    expect(outcome).toMatchObject({
      data: { price: 267.44, history: { intervalMinutes: 1_440, currency: 'USD', bars: { length: 5 } } },
      meta: {
        history: {
          source: 'twelvedata',
          adjusted: 'splits',
          agreement: { kind: 'agreed', sources: [{ source: 'twelvedata' }, { source: 'yahoo' }] },
        },
      },
    })
    expect(Object(outcome).data.history.bars.at(-1)).toMatchObject({ open: 266.84, close: 267.44, volume: 44_010_000 })
  })

  test('of a share comes from the two licensed providers when both have keys, and Yahoo is not asked', async () => {
    const order = { symbol: 'AAPL', history: '5d' }
    const stage = open({ keys: ['TWELVE_DATA', 'EODHD'] })
    expect(await buyOrder(stage.stock, order)).toMatchObject({
      data: { history: { bars: { 4: { time: '2026-11-19T05:00:00.000Z', close: 267.44, volume: 44_010_000 } } } },
      meta: {
        credits: [{ text: 'Data provided by Twelve Data' }],
        history: { adjusted: 'splits', agreement: { sources: [{ source: 'twelvedata' }, { source: 'eodhd' }] } },
      },
    })
    expect([stage.askedOf('TWELVE_DATA'), stage.askedOf('EODHD'), stage.askedOf('YAHOO')]).toEqual([2, 2, 0])
    const far = sampleAnswer('eodhd/splitadjusted-aapl-5d', withField([4, 'close'], 220))
    const says = { EODHD: except('EODHD', 'technical', far) }
    expect(await buyOrder(open({ keys: ['TWELVE_DATA', 'EODHD'], says }).stock, order)).toMatchObject(failed)
  })

  test('of another time is asked for, although a history of the share is cached', async () => {
    const stage = open({ keys: [] })
    for (const [history, asked] of [
      ['5d', 2],
      ['1mo', 3],
    ] as const) {
      await buyOrder(stage.stock, { symbol: 'AAPL', history })
      expect(stage.askedOf('YAHOO')).toBe(asked)
    }
  })

  test('of a share says its splits where the provider names them', async () => {
    const order = { symbol: 'AAPL', history: '5d' }
    expect(await buyOrder(open({ keys: [] }).stock, order)).toMatchObject({ meta: { history: { splits: [] } } })
  })

  const path = ['chart', 'result', 0]
  const prices = (at: number, factor: number) => (body: unknown) =>
    ['open', 'high', 'low', 'close'].reduce(
      (before, name) =>
        withField([...path, 'indicators', 'quote', 0, name, at], (at === 0 ? 263.02 : 267.44) * factor)(before),
      body,
    )
  const splits = { splits: { x: { date: 1_794_839_400, numerator: 4, denominator: 1, splitRatio: '4:1' } } }
  test.each<[string, (body: unknown) => unknown]>([
    ['is not adjusted for a split', (body) => withField([...path, 'events'], splits)(prices(0, 4)(body))],
    ['has one price in another unit', prices(0, 100)],
    ['has a day of other prices', prices(2, 1.15)],
    ['ends far from the price', prices(4, 1.15)],
    ['is in another currency', withField([...path, 'meta', 'currency'], 'EUR')],
    ['is of another share', withField([...path, 'meta', 'symbol'], 'MSFT')],
  ])('of a share is not sold if it %s', async (_what, change) => {
    const YAHOO = except('YAHOO', 'range=5d', sampleAnswer('yahoo/chart-aapl-5d', change))
    expect(await buyOrder(open({ says: { YAHOO } }).stock, { symbol: 'AAPL', history: '5d' })).toMatchObject(failed)
  })
})

test.each<[string, Readonly<Record<string, string>>, string, RegExp]>([
  [crypto.path, { symbol: 'BTC', currency: 'eur' }, 'currency', /USD, EUR, GBP, JPY, CAD, CHF, AUD/],
  [crypto.path, { symbol: 'BTC', history: '1y' }, 'history', /1d, 7d, 30d/],
  [crypto.path, { symbol: 'BTC', history: '1d', currency: 'EUR' }, 'history', /USD/],
  [crypto.path, { symbol: 'BTC', history: '1d', more: 'ETH' }, 'history', /more/],
  [crypto.path, { symbol: 'BTC', more: 'ETH,eth' }, 'more', /1 to 4 further symbols/],
  // A long s, whose capital is the letter S.
  [crypto.path, { symbol: 'BTC', more: '\u017fol' }, 'more', /1 to 4 further symbols/],
  [stock.path, { symbol: 'AAPL', history: '10y' }, 'history', /5d, 1mo, 6mo, 1y/],
])('%s with %j is refused for %s before a payment', (path, order, field, message) => {
  const stage = open()
  const read = (path === stock.path ? stage.stock : stage.crypto).read(order)
  expect(read).toMatchObject({ ok: false, issues: [{ path: [field], message: expect.stringMatching(message) }] })
})

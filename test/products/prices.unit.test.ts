import { describe, expect, test } from 'vitest'
import type { Endpoint } from '../../src/product/endpoint.ts'
import { type Answering, json, text } from '../support/loopbackProvider.ts'
import type { ForwardClock } from '../support/providerFixture.ts'
import { buySymbol, down, orderOf, type PriceProvider, startPriceServers } from '../support/priceStage.ts'
import { readSample, sampleAnswer, withField } from '../support/upstreamSample.ts'

const open = await startPriceServers()
const order = (endpoint: Endpoint, symbol: string) => orderOf(endpoint, { symbol })
const buy = buySymbol
const priced = (price: number) => withField([0, 'current_price'], price)

describe('a cryptocurrency price', () => {
  test('has exactly the fields of the specification, and the rest in meta', async () => {
    expect(await buy(open().crypto, 'btc')).toEqual({
      kind: 'delivered',
      data: {
        symbol: 'BTC',
        price: 77671,
        change24h: '-0.95%',
        volume24h: 33235034316,
        marketCap: 1555886872303,
      },
      meta: {
        source: 'coingecko',
        asOf: '2026-11-20T12:49:21.599Z',
        cached: false,
        ageSeconds: 0,
        id: 'bitcoin',
        name: 'Bitcoin',
        currency: 'USD',
        change24hPercentValue: -0.95302,
        agreement: {
          kind: 'agreed',
          tolerancePercent: 3,
          sources: [
            { source: 'coingecko', price: 77671, asOf: '2026-11-20T12:49:21.599Z' },
            { source: 'coinpaprika', price: 77655.10263184321, asOf: '2026-11-20T12:47:48.000Z' },
            { source: 'kraken', price: 77671 },
          ],
        },
        credits: [{ text: 'Data provided by CoinGecko', url: 'https://www.coingecko.com/' }],
      },
    })
  })

  test.each<[string, Answering]>([
    ['is down', down],
    ['is over its quota', text('', { status: 402 })],
    ['lacks the change', sampleAnswer('coingecko/markets-btc', withField([0, 'price_change_percentage_24h'], null))],
    [
      'is of this morning',
      sampleAnswer('coingecko/markets-btc', withField([0, 'last_updated'], '2026-11-20T09:00:00Z')),
    ],
    ['is far from the exchanges', sampleAnswer('coingecko/markets-btc', priced(60_000))],
  ])('comes from CoinPaprika when CoinGecko %s', async (_what, answering) => {
    const outcome = await buy(open({ says: { COINGECKO: answering } }).crypto, 'BTC')
    expect(outcome).toMatchObject({ kind: 'delivered', meta: { source: 'coinpaprika' } })
  })

  test('is the same for all names of a coin, each under the name that was asked for', async () => {
    const { crypto, askedOf } = open()
    expect(await buy(crypto, 'xbt')).toMatchObject({ data: { symbol: 'XBT', price: 77671 } })
    expect(await buy(crypto, 'BTC')).toMatchObject({ data: { symbol: 'BTC' }, meta: { cached: true } })
    expect(askedOf('COINGECKO')).toBe(1)
  })

  test('that no exchange confirms is not sold by any provider', async () => {
    const wrong = { COINGECKO: sampleAnswer('coingecko/markets-btc', priced(60_000)) }
    const alsoWrong = sampleAnswer('coinpaprika/ticker-btc', withField(['quotes', 'USD', 'price'], 60_000))
    const outcome = await buy(open({ says: { ...wrong, COINPAPRIKA: alsoWrong } }).crypto, 'BTC')
    expect(outcome).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
  })

  test.each<[string, (clock: ForwardClock) => Answering]>([
    ['is down', () => down],
    ['hangs', (clock) => () => clock.forward(1_000)],
    ['talks nonsense', () => text('<html>')],
  ])('is confirmed by CoinPaprika when the exchange %s', async (_what, answeringBy) => {
    const { crypto, say, clock } = open()
    say({ KRAKEN: answeringBy(clock) })
    const outcome = await buy(crypto, 'BTC')
    expect(outcome).toMatchObject({ meta: { source: 'coingecko', agreement: { silent: ['kraken'] } } })
  })

  test('of 7.77 for Bitcoin is not sold while the exchange is silent', async () => {
    const silent = { KRAKEN: down }
    const wrong = sampleAnswer('coingecko/markets-btc', (body) =>
      withField([0, 'market_cap'], 155_636_930)(priced(7.77)(body)),
    )
    const outcome = await buy(open({ says: { ...silent, COINGECKO: wrong } }).crypto, 'BTC')
    expect(outcome).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
    // Two providers that agree are as good as one and an exchange.
    expect(await buy(open({ says: silent }).crypto, 'BTC')).toMatchObject({
      kind: 'delivered',
      meta: { agreement: { sources: [{ source: 'coingecko' }, { source: 'coinpaprika' }] } },
    })
  })

  test('is sold from one provider without exchanges if it is near the last one that was confirmed', async () => {
    const { crypto, say, clock } = open()
    await buy(crypto, 'BTC')
    clock.forward(61_000)
    const alone = { KRAKEN: down, COINPAPRIKA: down }
    say({ ...alone, COINGECKO: sampleAnswer('coingecko/markets-btc', priced(78_000)) })
    expect(await buy(crypto, 'BTC')).toMatchObject({ kind: 'delivered', data: { price: 78_000 } })
    clock.forward(700_000)
    say({ ...alone, COINGECKO: sampleAnswer('coingecko/markets-btc', priced(7.77)) })
    expect(await buy(crypto, 'BTC')).toMatchObject({ kind: 'failed' })
  })

  test('that contradicts its own market capitalisation is not sold', async () => {
    const wrong = sampleAnswer('coingecko/markets-btc', priced(7.77))
    const outcome = await buy(open({ says: { COINGECKO: wrong } }).crypto, 'BTC')
    expect(outcome).toMatchObject({ kind: 'delivered', meta: { source: 'coinpaprika' } })
  })

  test('of an unknown symbol is NO_DATA, with a hint, and refused before a quote for ten minutes', async () => {
    const { crypto, askedOf, clock } = open({ says: { COINGECKO: json([]) } })
    expect(order(crypto, 'ZZZQQ').whyNoData()).toBeUndefined()
    expect(await buy(crypto, 'zzzqq')).toEqual({
      kind: 'failed',
      code: 'NO_DATA',
      message: expect.stringMatching(/ranked by market capitalisation/),
    })
    expect(order(crypto, 'ZZZQQ').whyNoData()).toMatch(/ranked/)
    expect([askedOf('COINGECKO'), askedOf('COINPAPRIKA'), askedOf('KRAKEN')]).toEqual([1, 0, 0])
    clock.forward(601_000)
    expect(order(crypto, 'ZZZQQ').whyNoData()).toBeUndefined()
  })

  test('is refused before a quote if no provider is available, except for cached answers', async () => {
    const { crypto, say, clock } = open()
    await buy(crypto, 'BTC')
    const limited = text('', { status: 429, headers: { 'retry-after': '120' } })
    say({ COINGECKO: limited, COINPAPRIKA: limited })
    clock.forward(61_000)
    expect(await buy(crypto, 'BTC')).toMatchObject({ meta: { cached: true, ageSeconds: 61 } })
    expect(order(crypto, 'ETH').whyUnavailable()).toMatch(/no provider/)
    expect(order(crypto, 'BTC').whyUnavailable()).toBeUndefined()
  })

  test('never tells the caller what a provider said to us', async () => {
    const secretive = json({ error: 'key sk-123 of account 7 is unpaid' }, { status: 402 })
    const outcome = await buy(open({ says: { COINGECKO: secretive, COINPAPRIKA: secretive } }).crypto, 'BTC')
    expect(outcome).toEqual({
      kind: 'failed',
      code: 'UPSTREAM_FAILED',
      message: 'no provider of a cryptocurrency price gave a usable answer; repeat with the same proof',
    })
  })
})

const yahooMeta = (fields: Readonly<Record<string, unknown>>): Answering =>
  sampleAnswer('yahoo/chart-aapl-1d', (body) =>
    Object.entries(fields).reduce(
      (changed, [field, value]) => withField(['chart', 'result', 0, 'meta', field], value)(changed),
      body,
    ),
  )

describe('a stock price that cannot be true', () => {
  test.each([
    ['a price of 1e12', { regularMarketPrice: 1e12 }],
    ['a fall of 90 % by a split that the previous close ignores', { regularMarketPrice: 26.744 }],
  ])('is not sold by the only provider, nor besides another: %s', async (_what, fields) => {
    const YAHOO = yahooMeta(fields)
    expect(await buy(open({ keys: [], says: { YAHOO } }).stock, 'AAPL')).toMatchObject({ kind: 'failed' })
    expect(await buy(open({ says: { YAHOO } }).stock, 'AAPL')).not.toMatchObject({ meta: { source: 'yahoo' } })
  })

  test('is sold after all if another provider says the same and none contradicts it: shares do fall by 90 %', async () => {
    const fallen = withField(['percent_change'], '-89.95305')
    const TWELVE_DATA = sampleAnswer('twelvedata/quote-aapl', (body) => withField(['close'], '26.74400')(fallen(body)))
    const { stock } = open({ says: { YAHOO: yahooMeta({ regularMarketPrice: 26.744 }), TWELVE_DATA } })
    expect(await buy(stock, 'AAPL')).toMatchObject({
      kind: 'delivered',
      data: { price: 26.744 },
      meta: { source: 'twelvedata', agreement: { sources: [{ source: 'twelvedata' }, { source: 'yahoo' }] } },
    })
  })
})

describe('a stock price', () => {
  test.each<[string, Answering]>([
    ['401', json({ finance: { error: { code: 'Unauthorized', description: 'Invalid Crumb' } } }, { status: 401 })],
    ['402', json({}, { status: 402 })],
    ['403', text('Forbidden', { status: 403 })],
    ['a consent page', text('<!doctype html><title>Before you continue</title>')],
    ['404 with a page', text('<html>no such path</html>', { status: 404 })],
  ])('of 0700.HK is not said to be missing because Yahoo answers %s', async (_what, answering) => {
    const { stock } = open({ keys: [], says: { YAHOO: answering } })
    expect(await buy(stock, '0700.HK')).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
    expect(order(stock, '0700.HK').whyNoData()).toBeUndefined()
  })

  const data = { symbol: 'AAPL', price: 267.44, change: '+1.25', changePercent: '+0.5%', volume: 45018260 }

  test('has exactly the fields of the specification, and the rest in meta', async () => {
    expect(await buy(open().stock, 'aapl')).toEqual({
      kind: 'delivered',
      data,
      meta: {
        source: 'twelvedata',
        asOf: '2026-11-19T21:00:00.000Z',
        cached: false,
        ageSeconds: 0,
        currency: 'USD',
        exchange: 'NASDAQ',
        marketState: 'CLOSED',
        name: 'Apple Inc',
        previousClose: 266.19,
        changeValue: 1.25,
        changePercentValue: 0.469589,
        agreement: {
          kind: 'agreed',
          tolerancePercent: 2,
          sources: [
            { source: 'twelvedata', price: 267.44, asOf: '2026-11-19T21:00:00.000Z' },
            { source: 'yahoo', price: 267.44, asOf: '2026-11-19T21:00:00.000Z' },
          ],
        },
        credits: [{ text: 'Data provided by Twelve Data', url: 'https://twelvedata.com/' }],
      },
    })
  })

  test.each<[readonly PriceProvider[], readonly string[]]>([
    [[], ['yahoo']],
    [['TWELVE_DATA'], ['twelvedata', 'yahoo']],
    [['EODHD'], ['eodhd', 'yahoo']],
    [
      ['TWELVE_DATA', 'EODHD'],
      ['twelvedata', 'eodhd'],
    ],
  ])('with keys of %j is the same, and agreed by %j', async (keys, sources) => {
    const stage = open({ keys })
    expect(await buy(stage.stock, 'AAPL')).toMatchObject({
      data,
      meta: { source: sources[0], agreement: { sources: sources.map((source) => ({ source })) } },
    })
    // Yahoo permits no sales, so that it is not asked by a service with two licences.
    expect(stage.askedOf('YAHOO')).toBe(keys.length < 2 ? 1 : 0)
  })

  test('of one licensed provider is not sold while the other is silent', async () => {
    for (const says of [{ TWELVE_DATA: down }, { EODHD: down }]) {
      const { stock } = open({ keys: ['TWELVE_DATA', 'EODHD'], says })
      expect(await buy(stock, 'AAPL')).toMatchObject({ code: 'UPSTREAM_FAILED' })
    }
  })

  test('of the last trading day is sold over a long weekend, and not after a week', async () => {
    const { stock, clock } = open()
    clock.forward(4 * 86_400_000)
    expect(await buy(stock, 'AAPL')).toMatchObject({ kind: 'delivered', data })
    clock.forward(3 * 86_400_000)
    expect(await buy(stock, 'AAPL')).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
  })

  test('of a class of shares is one question however it is spelled', async () => {
    const symbol = withField(['chart', 'result', 0, 'meta', 'symbol'], 'BRK-B')
    const TWELVE_DATA = sampleAnswer('twelvedata/quote-aapl', withField(['symbol'], 'BRK.B'))
    const { stock, askedOf } = open({ says: { YAHOO: sampleAnswer('yahoo/chart-aapl-1d', symbol), TWELVE_DATA } })
    expect(await buy(stock, 'BRK.B')).toMatchObject({ data: { symbol: 'BRK.B' } })
    expect(await buy(stock, 'brk-b')).toMatchObject({ data: { symbol: 'BRK-B' }, meta: { cached: true } })
    expect(askedOf('YAHOO')).toBe(1)
  })

  test('that no provider knows is NO_DATA and cached, though another provider does not cover it', async () => {
    const { stock, askedOf } = open({ says: { YAHOO: sampleAnswer('yahoo/chart-not-found-404') } })
    expect(await buy(stock, '9999.KL')).toMatchObject({ kind: 'failed', code: 'NO_DATA' })
    expect(order(stock, '9999.KL').whyNoData()).toBeDefined()
    expect([askedOf('YAHOO'), askedOf('TWELVE_DATA')]).toEqual([1, 0])
  })

  test('of an unknown ticker is looked for everywhere before it is said to be unknown', async () => {
    const { stock, askedOf } = open({
      says: {
        TWELVE_DATA: json(readSample('twelvedata/unknown-symbol').response.body),
        YAHOO: sampleAnswer('yahoo/chart-not-found-404'),
      },
    })
    expect(await buy(stock, 'ZZZQQ')).toMatchObject({ kind: 'failed', code: 'NO_DATA' })
    expect([askedOf('TWELVE_DATA'), askedOf('YAHOO')]).toEqual([1, 1])
  })
})

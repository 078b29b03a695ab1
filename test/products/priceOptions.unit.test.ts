import { describe, expect, test } from 'vitest'
import { crypto } from '../../src/products/crypto/crypto.ts'
import { stock } from '../../src/products/stock/stock.ts'
import { type Answering, json } from '../support/loopbackProvider.ts'
import { buyOrder, honest, orderOf, startPriceServers } from '../support/priceStage.ts'
import { sampleAnswer, withField } from '../support/upstreamSample.ts'

const open = await startPriceServers()

/** CoinGecko with one coin more, asked for by symbol or by id. */
const gecko: Answering = (response, asked) => {
  if (!asked.url.pathname.endsWith('/markets')) return honest('COINGECKO')(response, asked)
  const wanted = asked.url.searchParams.get('symbols') ?? asked.url.searchParams.get('ids') ?? ''
  const known = new Map([
    ['btc', ['bitcoin', 'btc']],
    ['zed', ['zed-coin', 'zed']],
    ['zed-coin', ['zed-coin', 'zed']],
  ])
  const [id, symbol] = known.get(wanted) ?? []
  if (id === undefined) return json([])(response, asked)
  sampleAnswer('coingecko/markets-btc', (body) => withField([0, 'id'], id)(withField([0, 'symbol'], symbol)(body)))(
    response,
    asked,
  )
}

describe('a cryptocurrency price', () => {
  test('has its details on request: id, name, rank, range and supply', async () => {
    expect(await buyOrder(open().crypto, { symbol: 'BTC', details: 'true' })).toMatchObject({
      data: {
        symbol: 'BTC',
        price: 77671,
        details: {
          id: 'bitcoin',
          name: 'Bitcoin',
          currency: 'USD',
          rank: 1,
          high24h: 78419,
          low24h: 76696,
          circulatingSupply: 20030493,
        },
      },
    })
    expect(await buyOrder(open().crypto, { symbol: 'BTC', details: 'false' })).not.toHaveProperty('data.details')
  })

  test('is sold by id: a listed coin is the same question, another one is named by its symbol', async () => {
    const stage = open({ says: { COINGECKO: gecko } })
    expect(await buyOrder(stage.crypto, { coinId: 'bitcoin' })).toMatchObject({ data: { symbol: 'BTC' } })
    expect(await buyOrder(stage.crypto, { symbol: 'BTC' })).toMatchObject({ meta: { cached: true } })
    expect(await buyOrder(stage.crypto, { coinId: 'zed-coin' })).toMatchObject({
      data: { symbol: 'ZED' },
      meta: { id: 'zed-coin' },
    })
    expect(Object.fromEntries(stage.lastUrlOf('COINGECKO')?.searchParams ?? [])).toEqual({
      vs_currency: 'usd',
      ids: 'zed-coin',
      per_page: '50',
    })
    expect(await buyOrder(stage.crypto, { coinId: 'no-such-coin' })).toMatchObject({ code: 'NO_DATA' })
  })

  test('of several coins comes in one answer, or not at all, and the refusal names the coin', async () => {
    const stage = open({ says: { COINGECKO: gecko } })
    const both = await buyOrder(stage.crypto, { symbol: 'BTC', more: 'zed' })
    expect(both).toMatchObject({
      data: { symbol: 'BTC', more: [{ symbol: 'ZED', price: 77671 }] },
      meta: { id: 'bitcoin', more: [{ id: 'zed-coin', agreement: { kind: 'single' } }] },
    })
    const inEuros = Object(await buyOrder(stage.crypto, { symbol: 'BTC', more: 'zed', currency: 'EUR' }))
    expect(inEuros.meta.more).toMatchObject([{ currency: 'EUR' }])
    expect(inEuros.data.more[0].price).toBe(inEuros.data.price)
    expect(inEuros.data.price).toBeCloseTo(77671 / 1.1628, 2)
    expect(await buyOrder(stage.crypto, { symbol: 'BTC', more: 'ZED,NONE' })).toMatchObject({
      code: 'NO_DATA',
      message: expect.stringMatching(/^NONE: no provider has/),
    })
    expect(orderOf(stage.crypto, { symbol: 'BTC', more: 'NONE' }).whyNoData()).toMatch(/no provider knew NONE/)
  })
})

describe('a stock price', () => {
  const apple = { currency: 'USD', previousClose: 266.19 }
  test.each([
    ['TWELVE_DATA', { ...apple, open: 266.5, high: 270.70999, low: 265.32001, marketState: 'CLOSED' }],
    ['EODHD', { ...apple, open: 266.5, high: 270.71, low: 265.32, delayedByMinutes: 15 }],
    ['YAHOO', { ...apple, open: 267.44, high: 270.71, low: 265.32, exchange: 'NasdaqGS', marketState: 'PRE' }],
  ] as const)('has its details on request from %s', async (name, details) => {
    const stage = open({ keys: [name] })
    expect(await buyOrder(stage.stock, { symbol: 'AAPL', details: 'true' })).toMatchObject({ data: { details } })
  })

  test('of several shares comes in one answer', async () => {
    const yahoo: Answering = (response, asked) => {
      const symbol = asked.url.pathname.split('/').at(-1)
      sampleAnswer('yahoo/chart-aapl-1d', withField(['chart', 'result', 0, 'meta', 'symbol'], symbol))(response, asked)
    }
    const twelveData: Answering = (response, asked) => {
      const symbol = asked.url.searchParams.get('symbol')
      sampleAnswer('twelvedata/quote-aapl', withField(['symbol'], symbol))(response, asked)
    }
    const stage = open({ says: { YAHOO: yahoo, TWELVE_DATA: twelveData } })
    expect(await buyOrder(stage.stock, { symbol: 'AAPL', more: 'VTI,BRK-B' })).toMatchObject({
      data: { symbol: 'AAPL', more: [{ symbol: 'VTI' }, { symbol: 'BRK-B', price: 267.44 }] },
    })
  })
})

test.each<[string, Readonly<Record<string, string>>, string]>([
  [crypto.path, {}, 'symbol'],
  [crypto.path, { symbol: 'BTC', coinId: 'bitcoin' }, 'symbol'],
  [crypto.path, { coinId: 'Bitcoin' }, 'coinId'],
  [crypto.path, { symbol: 'BTC', more: '' }, 'more'],
  [crypto.path, { symbol: 'BTC', more: 'ETH,' }, 'more'],
  [crypto.path, { symbol: 'BTC', more: 'ETH,eth' }, 'more'],
  [crypto.path, { symbol: 'BTC', more: 'A,B,C,D,E' }, 'more'],
  [crypto.path, { symbol: 'BTC', details: 'yes' }, 'details'],
  [stock.path, { symbol: 'AAPL', more: 'MSFT;IBM' }, 'more'],
  [stock.path, { more: 'MSFT' }, 'symbol'],
])('%s with %j is refused for %s', (path, order, field) => {
  const stage = open()
  const read = (path === stock.path ? stage.stock : stage.crypto).read(order)
  expect(read).toMatchObject({ ok: false, issues: [{ path: [field] }] })
})

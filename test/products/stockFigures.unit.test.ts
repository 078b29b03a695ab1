import { describe, expect, test } from 'vitest'
import { openEodhd } from '../../src/products/stock/providers/eodhd.ts'
import {
  type StockHistoryQuery,
  stockHistoryObservation,
  stockRanges,
} from '../../src/products/stock/providers/stockHistory.ts'
import { type StockFigures, stockObservation } from '../../src/products/stock/providers/stockPrice.ts'
import { tickerOf } from '../../src/products/stock/providers/ticker.ts'
import { openTwelveData } from '../../src/products/stock/providers/twelveData.ts'
import { missesUsSession, usSessionSinceMs } from '../../src/products/stock/providers/usSession.ts'
import { openYahoo } from '../../src/products/stock/providers/yahoo.ts'
import { assertPresent } from '@tollbook/core/assert'
import { type Answering, json, startLoopbackProvider } from '../support/loopbackProvider.ts'
import { openProviderFixture } from '../support/providerFixture.ts'
import { kindOf, sampleAnswer, sampleTimeMs, withField } from '../support/upstreamSample.ts'

const server = await startLoopbackProvider()
const query = (symbol: string) => ({ symbol, ticker: tickerOf(symbol) })
const at = (time: string) => Date.parse(`${time}Z`)

function open(answering: Answering, timeMs = sampleTimeMs) {
  server.answer(answering)
  const setting = { url: server.url, apiKey: 'k' }
  const { deps } = openProviderFixture({ EODHD: setting, TWELVE_DATA: setting }, timeMs)
  const yahoo = openYahoo({ ...deps, upstreams: { YAHOO: { url: server.url } } })
  return {
    eodhd: assertPresent(openEodhd(deps), 'there is a key'),
    twelveData: assertPresent(openTwelveData(deps), 'there is a key'),
    yahoo: assertPresent(yahoo, 'it is asked'),
  }
}

describe('a session of New York', () => {
  test.each([
    ['2026-11-20T14:29:59', undefined],
    ['2026-11-20T14:30:00', '2026-11-20T14:30:00'],
    ['2026-11-20T20:59:59', '2026-11-20T14:30:00'],
    ['2026-11-20T21:00:00', undefined],
    ['2026-11-21T16:00:00', undefined],
    ['2026-07-01T13:30:00', '2026-07-01T13:30:00'],
  ])('at %s began at %s', (now, since) => {
    expect(usSessionSinceMs(at(now))).toBe(since === undefined ? undefined : at(since))
  })

  test.each([
    // Friday's session is over, and Monday's is missed half an hour after its end.
    ['2026-11-20T21:00:00', '2026-11-23T21:30:00', false],
    ['2026-11-20T21:00:00', '2026-11-23T21:30:01', true],
    ['2026-11-20T14:00:00', '2026-11-20T21:30:01', true],
    ['2026-11-20T15:00:00', '2026-11-22T21:30:01', false],
    ['2026-11-18T21:00:00', '2026-11-20T12:00:00', true],
  ])('between %s and %s is missed: %s', (since, now, isMissed) => {
    expect(missesUsSession(at(since), at(now))).toBe(isMissed)
  })
})

describe('the figures of a share', () => {
  const nowMs = at('2026-11-20T16:00:00')
  const figures: StockFigures = {
    price: 250,
    previousClose: 200,
    volume: 1_000,
    open: 210,
    high: 260,
    low: 205,
    asOfMs: nowMs - 60_000,
    currency: 'USD',
    openSinceMs: at('2026-11-20T14:30:00'),
    nowMs,
  }
  const observe = (more: Partial<StockFigures>, symbol = 'AAPL') =>
    stockObservation(query(symbol), { ...figures, ...more })

  test('in pence are all in pounds', () => {
    const { details, data, meta } = observe({ currency: 'GBX' }, 'VOD.L')
    expect(details).toEqual({ currency: 'GBP', previousClose: 2, open: 2.1, high: 2.6, low: 2.05 })
    expect(data).toMatchObject({ price: 2.5, change: '+0.50', changePercent: '+25.0%' })
    expect(meta).toMatchObject({ currency: 'GBP', quotedIn: 'GBX', previousClose: 2, changeValue: 0.5 })
  })

  test.each<[string, Partial<StockFigures>, string | undefined]>([
    ['of a minute ago', {}, undefined],
    ['of more than an hour ago', { asOfMs: nowMs - 3_600_001 }, 'a trade of an earlier hour'],
    ['of an hour ago', { asOfMs: nowMs - 3_600_000 }, undefined],
    ['of a share without a trade', { asOfMs: nowMs - 3_600_001, volume: 0, price: 200, low: 199 }, undefined],
    ['of a fund', { asOfMs: nowMs - 3_600_001, isFund: true, volume: undefined }, undefined],
    [
      'of a session before, while no session is known',
      { asOfMs: at('2026-11-18T21:00:00'), openSinceMs: undefined },
      'a price of an earlier session',
    ],
    [
      'of a fund of a session before',
      { asOfMs: at('2026-11-18T21:00:00'), openSinceMs: undefined, isFund: true },
      undefined,
    ],
    ['that moved by less than 30 %', { price: 259 }, undefined],
    ['that moved by more', { price: 262, high: 262 }, 'a move of 31 % in a day'],
    ['2 % above its range', { high: 246 }, undefined],
    ['more above its range', { high: 245 }, 'a price outside the range of the day'],
    ['below its range', { low: 256 }, 'a price outside the range of the day'],
    ['in a foreign currency', { currency: 'EUR' }, 'EUR at this exchange'],
  ])('%s have their doubt', (_what, more, doubt) => {
    expect(observe(more).doubt).toBe(doubt)
  })

  test('of an earlier day are refused once the market has been open for half an hour', () => {
    const early = { asOfMs: at('2026-11-20T13:00:00') }
    expect(() => observe(early)).toThrow('earlier day')
    expect(() => observe({ ...early, nowMs: at('2026-11-20T14:59:59') })).not.toThrow()
    expect(() => observe({ ...early, volume: 0, price: 200, low: 199 })).not.toThrow()
    expect(() => observe({ price: 1e10 + 1, previousClose: 1e10, high: null })).toThrow('no share')
  })
})

describe('a history of shares', () => {
  const ask: StockHistoryQuery = { ...query('AAPL'), range: '5d', price: 267.44, currency: 'USD' }
  const eodhdDays = 'eodhd/splitadjusted-aapl-5d'

  test('of EODHD is asked from its first day, and of five days has the last five', async () => {
    const more = (body: unknown) => [{ ...Object(body)[0], date: '2026-11-12' }, ...Object(body)]
    const { histories } = open(sampleAnswer(eodhdDays, more)).eodhd
    const froms: unknown[] = []
    for (const range of stockRanges) {
      const outcome = await histories.ask({ ...ask, range })
      froms.push([server.asked.at(-1)?.url.searchParams.get('from'), outcome.data.bars.length])
    }
    expect(froms).toEqual([
      ['2026-11-10', 5],
      ['2026-10-20', 6],
      ['2026-05-21', 6],
      ['2025-11-19', 6],
    ])
  })

  test('in pence is in pounds, in every price', async () => {
    const { histories } = open(sampleAnswer(eodhdDays)).eodhd
    const { data } = await histories.ask({ ...query('VOD.L'), range: '5d', price: 2.6744, currency: 'GBP' })
    expect(data.currency).toBe('GBP')
    expect(data.bars[0]).toMatchObject({ open: 2.6242, high: 2.6512, low: 2.6112, close: 2.6302, volume: 40_010_000 })
    expect(data.bars[0]?.startMs).toBe(at('2026-11-13T00:00:00'))
  })

  test('of Twelve Data is asked for as many rows as its range has trading days', async () => {
    const { histories } = open(sampleAnswer('twelvedata/time-series-aapl-5d')).twelveData
    const rows: unknown[] = []
    for (const range of stockRanges) {
      await histories.ask({ ...ask, range })
      rows.push(server.asked.at(-1)?.url.searchParams.get('outputsize'))
    }
    expect(rows).toEqual(['5', '22', '127', '252'])
  })

  test('of Yahoo names its splits in their order, and is refused while one is not in its prices', async () => {
    const split = (date: string, numerator: number) => ({ date: at(date) / 1_000, numerator, denominator: 1 })
    const path = ['chart', 'result', 0]
    const days = (splits: object, before = (body: unknown) => body) =>
      sampleAnswer('yahoo/chart-aapl-5d', (body) => withField([...path, 'events'], { splits })(before(body)))
    const two = { x: split('2026-11-18T14:30:00', 3), y: split('2026-11-16T14:30:00', 2) }
    const adjusted = await open(days(two)).yahoo.histories.ask(ask)
    expect(adjusted.data.facts).toEqual({
      adjusted: 'splits',
      splits: [
        { date: '2026-11-16', ratio: '2:1' },
        { date: '2026-11-18', ratio: '3:1' },
      ],
    })
    const quadruple = (body: unknown) =>
      ['open', 'high', 'low', 'close'].reduce(
        (changed, name) => withField([...path, 'indicators', 'quote', 0, name, 0], 263 * 4)(changed),
        body,
      )
    const late = { x: split('2026-11-16T14:30:00', 4) }
    for (const splits of [late, { ...late, y: split('2026-11-13T14:30:00', 2) }])
      await expect(open(days(splits, quadruple)).yahoo.histories.ask(ask)).rejects.toThrow('not adjusted for a split')
  })

  test('is no older than its range, and in the currency of the price', () => {
    const barAt = (date: string) => ({ startMs: at(`${date}T05:00:00`), open: 10, high: 10, low: 10, close: 10 })
    const observe = (first: string, currency = 'USD') =>
      stockHistoryObservation(
        { bars: [barAt(first), barAt('2026-11-19')], intervalMs: 86_400_000, currency },
        { ...ask, price: 10 },
        { nowMs: sampleTimeMs, timeZone: 'America/New_York' },
      )
    expect(() => observe('2026-11-07')).not.toThrow()
    expect(() => observe('2026-11-06')).toThrow('earlier time')
    expect(() => observe('2026-11-18', 'EUR')).toThrow('another currency')
  })
})

test('of New York, Twelve Data sells no price of before the session', async () => {
  const quote = (seconds: number) =>
    sampleAnswer('twelvedata/quote-aapl', (body) =>
      withField(['is_market_open'], true)(withField(['last_quote_at'], seconds)(body)),
    )
  const nowMs = at('2026-11-20T15:15:00')
  const priceAt = (time: string) => kindOf(open(quote(at(time) / 1_000), nowMs).twelveData.prices.ask(query('AAPL')))
  expect(await priceAt('2026-11-20T14:31:00')).toMatch(/^answered/)
  expect(await priceAt('2026-11-20T13:00:00')).toBe('incomplete')
})

test('an answer of EODHD without any figure is about no share', async () => {
  expect(
    await kindOf(open(json({ code: 'AAPL.US', close: 'NA', previousClose: 'NA' })).eodhd.prices.ask(query('AAPL'))),
  ).toBe('not_found')
})

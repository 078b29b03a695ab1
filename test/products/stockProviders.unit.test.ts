import { describe, expect, test } from 'vitest'
import type { StockQuery } from '../../src/products/stock/providers/stockPrice.ts'
import { tickerOf } from '../../src/products/stock/providers/ticker.ts'
import { type Answering, json, startLoopbackProvider, text } from '../support/loopbackProvider.ts'
import { openPrices } from '../support/stockProviders.ts'
import {
  errorBodies,
  kindOf,
  okOf,
  readSample,
  sampleAnswer,
  sampleTimeMs,
  withField,
} from '../support/upstreamSample.ts'

const server = await startLoopbackProvider()
const query = (symbol: string): StockQuery => ({ symbol, ticker: tickerOf(symbol) })
const lastUrl = () => server.asked.at(-1)?.url
const isoOf = (observation: { asOfMs: number }) => new Date(observation.asOfMs).toISOString()

const unusable = errorBodies.filter(([what]) => what !== 'another shape')

describe('Yahoo', () => {
  const yahoo = (timeMs?: number) => openPrices('YAHOO', { url: server.url, timeMs: timeMs ?? sampleTimeMs }).prices
  const sample = 'yahoo/chart-aapl-1d'
  const meta = (field: string, value: unknown) =>
    sampleAnswer(sample, withField(['chart', 'result', 0, 'meta', field], value))

  test('is read as the sample expects, and asked for one day with a browser’s User-Agent', async () => {
    server.answer(sampleAnswer(sample))
    const observation = await yahoo().ask(query('AAPL'))
    expect(observation.data).toEqual(okOf(sample))
    expect(isoOf(observation)).toBe('2026-11-19T21:00:00.000Z')
    expect(observation.meta).toEqual({
      currency: 'USD',
      previousClose: 266.19,
      changeValue: 1.25,
      changePercentValue: 0.469589,
      name: 'Apple Inc.',
      exchange: 'NasdaqGS',
      marketState: 'PRE',
    })
    expect(lastUrl()?.search).toBe('?interval=1d&range=1d')
    expect(server.asked.at(-1)?.headers['user-agent']).toBe(readSample(sample).request.headers?.['user-agent'])
  })

  test.each([
    [1795165100, 'CLOSED'],
    [1795165200, 'PRE'],
    [1795185000, 'REGULAR'],
    [1795208300, 'REGULAR'],
    [1795208400, 'POST'],
    [1795222801, 'CLOSED'],
  ])('at %d the market is %s', async (seconds, state) => {
    server.answer(meta('regularMarketTime', seconds))
    expect((await yahoo(seconds * 1_000 + 1).ask(query('AAPL'))).meta).toMatchObject({ marketState: state })
  })

  test('of the day before is not sold when the market has been open for half an hour', async () => {
    const openedAtSeconds = 1_795_185_000
    server.answer(sampleAnswer(sample))
    // Delayed figures are of the day before for a quarter of an hour.
    expect((await yahoo((openedAtSeconds + 900) * 1_000).ask(query('AAPL'))).data.price).toBe(267.44)
    expect(await kindOf(yahoo((openedAtSeconds + 3_600) * 1_000).ask(query('AAPL')))).toBe('incomplete')
    server.answer(meta('regularMarketTime', openedAtSeconds - 3 * 86_400))
    expect(await kindOf(yahoo((openedAtSeconds + 3_600) * 1_000).ask(query('AAPL')))).toBe('incomplete')
  })

  test('in pence is returned in pounds', async () => {
    const pence = withField(['chart', 'result', 0, 'meta', 'currency'], 'GBp')
    const symbol = withField(['chart', 'result', 0, 'meta', 'symbol'], 'VOD.L')
    server.answer(sampleAnswer(sample, (body) => pence(symbol(body))))
    const { data, meta } = await yahoo().ask(query('VOD.L'))
    expect(data).toMatchObject({ price: 2.6744, change: '+0.01', changePercent: '+0.5%', volume: 45018260 })
    expect(meta).toMatchObject({ currency: 'GBP', quotedIn: 'GBp', previousClose: 2.6619 })
  })

  test.each([
    ['ZAc', 'ZAR', 2.6744],
    ['KWF', 'KWD', 0.26744],
  ])('in %s is returned in %s', async (quoted, currency, price) => {
    server.answer(meta('currency', quoted))
    expect(await yahoo().ask(query('AAPL'))).toMatchObject({ data: { price }, meta: { currency, quotedIn: quoted } })
  })

  test('a share without a trade today is sold with a volume of zero, and a fund has none', async () => {
    const fields = (changes: Readonly<Record<string, unknown>>) =>
      sampleAnswer(sample, (body) =>
        Object.entries(changes).reduce(
          (changed, [field, value]) => withField(['chart', 'result', 0, 'meta', field], value)(changed),
          body,
        ),
      )
    server.answer(fields({ regularMarketVolume: 0, regularMarketPrice: 266.19 }))
    expect((await yahoo().ask(query('AAPL'))).data).toMatchObject({ volume: 0, change: '+0.00' })
    server.answer(fields({ regularMarketVolume: undefined, instrumentType: 'MUTUALFUND' }))
    expect((await yahoo().ask(query('AAPL'))).data).toMatchObject({ price: 267.44, volume: 0 })
    // A price does not move without a trade.
    server.answer(fields({ regularMarketVolume: 0 }))
    expect(await kindOf(yahoo().ask(query('AAPL')))).toBe('incomplete')
  })

  test('never takes the close before another range for yesterday’s', async () => {
    server.answer(meta('range', '5d'))
    expect(await kindOf(yahoo().ask(query('AAPL')))).toBe('incomplete')
    const previous = withField(['chart', 'result', 0, 'meta', 'previousClose'], 270)
    const range = withField(['chart', 'result', 0, 'meta', 'range'], '5d')
    server.answer(sampleAnswer(sample, (body) => previous(range(body))))
    expect((await yahoo().ask(query('AAPL'))).data).toMatchObject({ change: '-2.56', changePercent: '-0.9%' })
  })

  test.each([
    [266.19, '+0.00', '+0.0%'],
    [266.1899999, '+0.00', '+0.0%'],
    [266.18, '-0.01', '+0.0%'],
    [133.09, '-133.10', '-50.0%'],
  ])('a price of %d after 266.19 is %s, %s', async (price, change, changePercent) => {
    server.answer(meta('regularMarketPrice', price))
    const { data } = await yahoo().ask(query('AAPL'))
    expect([data.change, data.changePercent]).toEqual([change, changePercent])
  })

  test.each<[string, Answering, string]>([
    ['an unknown symbol', sampleAnswer('yahoo/chart-not-found-404'), 'not_found'],
    ['an object without a chart', json({ success: false, message: 'try later' }), 'bad_payload'],
    ['a chart without a result', json({ chart: { result: null, error: null } }), 'bad_payload'],
    ['an empty result', json({ chart: { result: [], error: null } }), 'not_found'],
    ['a dropped symbol', meta('instrumentType', 'NONE'), 'not_found'],
    ['a coin', meta('instrumentType', 'CRYPTOCURRENCY'), 'not_found'],
    ['another symbol', meta('symbol', 'MSFT'), 'bad_payload'],
    [
      'an invalid crumb',
      json({ finance: { error: { code: 'Unauthorized', description: 'Invalid Crumb' } } }, { status: 401 }),
      'auth',
    ],
    [
      'an invalid crumb under 200',
      json({ finance: { result: null, error: { code: 'Unauthorized', description: 'Invalid Crumb' } } }),
      'auth',
    ],
    ['the limit', text('Too Many Requests\r\n', { status: 429 }), 'rate_limited'],
    ['the limit under 200', text('Too Many Requests\r\n'), 'rate_limited'],
    [
      'a delisted symbol',
      json(
        { chart: { result: null, error: { code: 'Bad Request', description: "Data doesn't exist for startDate" } } },
        { status: 400 },
      ),
      'not_found',
    ],
    [
      'an error of theirs',
      json({ chart: { result: null, error: { code: 'Internal', description: 'x' } } }),
      'bad_payload',
    ],
    ...unusable,
  ])('%s is a failure of its own kind', async (_what, answering, kind) => {
    server.answer(answering)
    expect(await kindOf(yahoo().ask(query('AAPL')))).toBe(kind)
  })

  test.each<[string, unknown]>([
    ['regularMarketPrice', null],
    ['regularMarketPrice', 0],
    ['regularMarketPrice', -1],
    ['regularMarketVolume', null],
    ['regularMarketVolume', 0],
    ['regularMarketTime', null],
    ['chartPreviousClose', 0],
    ['chartPreviousClose', undefined],
    ['currency', null],
    ['currency', 'XXf'],
  ])('%s: %j is not a price', async (field, value) => {
    server.answer(meta(field, value))
    expect(await kindOf(yahoo().ask(query('AAPL')))).toBe('incomplete')
  })
})

describe('EODHD', () => {
  const eodhd = () => openPrices('EODHD', { url: server.url, timeMs: sampleTimeMs }).prices
  const sample = 'eodhd/real-time-aapl'
  const field = (name: string, value: unknown) => sampleAnswer(sample, withField([name], value))

  test('is read as the sample expects, and says that it is delayed', async () => {
    server.answer(sampleAnswer(sample))
    const observation = await eodhd().ask(query('AAPL'))
    expect(observation.data).toEqual(okOf(sample))
    expect(isoOf(observation)).toBe('2026-11-19T21:00:00.000Z')
    expect(observation.meta).toMatchObject({ currency: 'USD', delayedByMinutes: 15 })
    expect(observation.details).toMatchObject({ open: 266.5, high: 270.71, low: 265.32, previousClose: 266.19 })
    expect(`${lastUrl()?.pathname}${lastUrl()?.search}`).toBe('/api/real-time/AAPL.US?api_token=KEY&fmt=json')
  })

  test('of London is in pence, which are returned in pounds', async () => {
    server.answer(field('code', 'VOD.LSE'))
    const { data, meta } = await eodhd().ask(query('VOD.L'))
    expect(data).toMatchObject({ price: 2.6744, change: '+0.01' })
    expect(meta).toMatchObject({ currency: 'GBP', quotedIn: 'GBX' })
  })

  test('is not asked for an exchange whose currency it does not name', async () => {
    const begun = server.asked.length
    expect(await kindOf(eodhd().ask(query('7203.T')))).toBe('not_covered')
    expect(eodhd().covers?.(query('7203.T'))).toBe(false)
    expect(server.asked.length).toBe(begun)
  })

  test.each<[string, Answering, string]>([
    ['an unknown symbol', sampleAnswer('eodhd/unknown-symbol', withField(['code'], 'AAPL.US')), 'not_found'],
    ['an unknown symbol as text', text('Ticker Not Found.', { status: 404 }), 'not_found'],
    ['another symbol', field('code', 'MSFT.US'), 'bad_payload'],
    ['a share without a price', field('close', 'NA'), 'incomplete'],
    ['a share without a previous close', field('previousClose', 'NA'), 'incomplete'],
    ['a share without a volume', field('volume', 'NA'), 'incomplete'],
    ['a share without a time', field('timestamp', 'NA'), 'incomplete'],
    ['a change that contradicts the close before', field('change_p', 4.7), 'incomplete'],
    ['a price of zero', field('close', 0), 'incomplete'],
    ['a used quota', json({ error: 'limit', code: 402 }, { status: 402 }), 'auth'],
    ['a refused key', json({ error: 'Unauthenticated', code: 403 }, { status: 403 }), 'auth'],
    ['an error under 200', json({ error: 'Internal', code: 500 }), 'bad_payload'],
    ...errorBodies,
  ])('%s is a failure of its own kind', async (_what, answering, kind) => {
    server.answer(answering)
    expect(await kindOf(eodhd().ask(query('AAPL')))).toBe(kind)
  })

  test('whose key is refused does not get it into an error or a log', async () => {
    server.answer(text('a-very-secret-key', { status: 403 }))
    const { prices, lines } = openPrices('EODHD', { url: server.url, apiKey: 'a-very-secret-key' })
    await expect(prices.ask(query('AAPL'))).rejects.not.toHaveProperty(
      'stack',
      expect.stringContaining('a-very-secret-key'),
    )
    expect(lines.join()).not.toContain('a-very-secret-key')
  })
})

describe('Twelve Data', () => {
  const twelveData = () => openPrices('TWELVE_DATA', { url: server.url, timeMs: sampleTimeMs }).prices
  const sample = 'twelvedata/quote-aapl'
  const field = (name: string, value: unknown) => sampleAnswer(sample, withField([name], value))
  const error = (code: number, message: string, status = 200) => json({ code, message, status: 'error' }, { status })

  test('is read as the sample expects, at the time of the last quote and not of the opening', async () => {
    server.answer(sampleAnswer(sample))
    const observation = await twelveData().ask(query('AAPL'))
    expect(observation.data).toEqual(okOf(sample))
    expect(isoOf(observation)).toBe('2026-11-19T21:00:00.000Z')
    expect(observation.meta).toMatchObject({ currency: 'USD', exchange: 'NASDAQ', marketState: 'CLOSED' })
    expect(lastUrl()?.search).toBe('?symbol=AAPL&apikey=KEY')
  })

  test('that answers from another exchange is not believed', async () => {
    server.answer(sampleAnswer(sample, withField(['symbol'], '0700')))
    expect(await kindOf(twelveData().ask(query('0700.HK')))).toBe('not_covered')
  })

  test.each<[string, Answering, string]>([
    ['an unknown symbol', sampleAnswer('twelvedata/unknown-symbol'), 'not_found'],
    [
      'an unknown symbol under 400',
      error(400, '**symbol** not found: ZZZQQ. Please specify it correctly.', 400),
      'not_found',
    ],
    [
      'what another plan has',
      error(404, 'This symbol is available starting with the Grow or Venture plan (Grow plan)'),
      'incomplete',
    ],
    ['the limit under 200', error(429, 'You have run out of API credits for the current minute.'), 'rate_limited'],
    ['the limit', error(429, 'You have run out of API credits.', 429), 'rate_limited'],
    ['an invalid key', error(401, '**apikey** parameter is incorrect or not specified.'), 'auth'],
    ['an invalid key under 401', error(401, '**apikey** parameter is incorrect.', 401), 'auth'],
    ['a forbidden one', error(403, 'Forbidden'), 'auth'],
    ['an error of theirs', error(500, 'Internal'), 'upstream'],
    ['another error', error(414, 'too long'), 'bad_payload'],
    ['another symbol', field('symbol', 'MSFT'), 'bad_payload'],
    ['no close', field('close', null), 'incomplete'],
    ['a close of zero', field('close', '0.00000'), 'incomplete'],
    ['no previous close', field('previous_close', undefined), 'incomplete'],
    ['no volume', field('volume', ''), 'incomplete'],
    ['a change that contradicts the previous close', field('previous_close', '240.00000'), 'incomplete'],
    ...unusable,
  ])('%s is a failure of its own kind', async (_what, answering, kind) => {
    server.answer(answering)
    expect(await kindOf(twelveData().ask(query('AAPL')))).toBe(kind)
  })

  test('whose key is refused does not get it into an error or a log', async () => {
    const { prices, lines } = openPrices('TWELVE_DATA', { url: server.url, apiKey: 'a-very-secret-key' })
    for (const answering of [text('a-very-secret-key'), text('', { status: 500 }), error(401, 'a-very-secret-key')]) {
      server.answer(answering)
      await expect(prices.ask(query('AAPL'))).rejects.not.toHaveProperty(
        'stack',
        expect.stringContaining('a-very-secret-key'),
      )
    }
    expect(lines).toHaveLength(3)
    expect(lines.join()).not.toContain('a-very-secret-key')
  })
})

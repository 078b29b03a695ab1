import { describe, expect, test } from 'vitest'
import { type StockQuery, wholeUnitOf } from '../../src/products/stock/providers/stockPrice.ts'
import { tickerOf } from '../../src/products/stock/providers/ticker.ts'
import { epochMsOf } from '../../src/sourcing/zonedTime.ts'
import { startLoopbackProvider, text } from '../support/loopbackProvider.ts'
import { openPrices } from '../support/stockProviders.ts'
import { kindOf } from '../support/upstreamSample.ts'

const server = await startLoopbackProvider()
const query = (symbol: string): StockQuery => ({ symbol, ticker: tickerOf(symbol) })
const pricesOf = (name: 'EODHD' | 'TWELVE_DATA' | 'YAHOO') => openPrices(name, { url: server.url }).prices
const lastUrl = () => server.asked.at(-1)?.url

describe('a ticker', () => {
  test.each([
    ['AAPL', 'AAPL', true],
    ['BRK.B', 'BRK.B', true],
    ['brk-b', 'BRK.B', true],
    ['0700.KL', '0700.KL', false],
    ['VOD.V', 'VOD.V', false],
    ['VOD-L', 'VOD.L', true],
    ['7203.T', '7203.T', false],
    ['SAP.SG', 'SAP.SG', false],
    ['BAC-PL', 'BAC-PL', false],
    ['toString', 'TOSTRING', false],
    ['GOOGL', 'GOOGL', true],
    ['7203', '7203', false],
  ])('%s is %s', async (asked, canonical, isOfUnitedStates) => {
    expect(tickerOf(asked).canonical).toBe(canonical)
    const begun = server.asked.length
    server.answer(text('', { status: 401 }))
    const kind = isOfUnitedStates ? 'auth' : 'not_covered'
    expect(await kindOf(pricesOf('EODHD').ask(query(asked)))).toBe(kind)
    expect(server.asked.length - begun).toBe(isOfUnitedStates ? 1 : 0)
  })

  test.each([
    ['BRK.B', '/v8/finance/chart/BRK-B', '/api/real-time/BRK-B.US', 'BRK.B'],
    ['AAPL', '/v8/finance/chart/AAPL', '/api/real-time/AAPL.US', 'AAPL'],
  ])('%s is spelled as each provider wants it', async (asked, yahoo, eodhd, twelveData) => {
    server.answer(text('', { status: 401 }))
    await kindOf(pricesOf('YAHOO').ask(query(asked)))
    expect(lastUrl()?.pathname).toBe(yahoo)
    await kindOf(pricesOf('EODHD').ask(query(asked)))
    expect(lastUrl()?.pathname).toBe(eodhd)
    await kindOf(pricesOf('TWELVE_DATA').ask(query(asked)))
    expect(lastUrl()?.searchParams.get('symbol')).toBe(twelveData)
  })

  test('of another exchange goes to those who have it', async () => {
    server.answer(text('', { status: 401 }))
    await kindOf(pricesOf('YAHOO').ask(query('0700.HK')))
    expect(lastUrl()?.pathname).toBe('/v8/finance/chart/0700.HK')
    await kindOf(pricesOf('EODHD').ask(query('0700.HK')))
    expect(lastUrl()?.pathname).toBe('/api/real-time/0700.HK')
    await kindOf(pricesOf('TWELVE_DATA').ask(query('0700.HK')))
    expect(lastUrl()?.searchParams.get('symbol')).toBe('0700')
    expect(lastUrl()?.searchParams.get('mic_code')).toBe('XHKG')
    expect(await kindOf(pricesOf('TWELVE_DATA').ask(query('ABC.XX')))).toBe('not_covered')
  })
})

describe('the time on a wall', () => {
  test.each([
    ['America/New_York', 2026, 7, 1, '2026-07-01T16:00:00.000Z'],
    ['America/New_York', 2026, 12, 1, '2026-12-01T17:00:00.000Z'],
    // The days on which clocks change there.
    ['America/New_York', 2026, 3, 8, '2026-03-08T16:00:00.000Z'],
    ['America/New_York', 2026, 11, 1, '2026-11-01T17:00:00.000Z'],
    ['Europe/Warsaw', 2026, 3, 29, '2026-03-29T10:00:00.000Z'],
    ['Europe/London', 2026, 1, 1, '2026-01-01T12:00:00.000Z'],
    ['Asia/Kolkata', 2026, 1, 1, '2026-01-01T06:30:00.000Z'],
  ])('of noon in %s on %i-%i-%i is %s', (timeZone, year, month, day, iso) => {
    expect(new Date(epochMsOf({ year, month, day, hour: 12, minute: 0, second: 0 }, timeZone)).toISOString()).toBe(iso)
  })

  test('of midnight before the clocks change there has the offset of that midnight', () => {
    const date = { year: 2026, month: 10, day: 4, hour: 0, minute: 0, second: 30 }
    expect(new Date(epochMsOf(date, 'Australia/Sydney')).toISOString()).toBe('2026-10-03T14:00:30.000Z')
  })
})

test.each([
  ['GBX', 'GBP', 2.5],
  ['ILA', 'ILS', 2.5],
  ['ZAc', 'ZAR', 2.5],
  ['KWF', 'KWD', 0.25],
  ['USD', 'USD', 250],
])('250 %s are %s %d', (quoted, currency, amount) => {
  const unit = wholeUnitOf(quoted)
  expect([unit.currency, unit.inWhole(250), unit.isPart]).toEqual([currency, amount, quoted !== 'USD'])
})

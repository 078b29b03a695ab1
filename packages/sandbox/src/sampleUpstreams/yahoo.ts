import { barsOf, figuresOf, type Listing, listings } from './listings.ts'
import { json, plain, type SampleProvider } from './sampleProvider.ts'
import { wallTimeIn, zoneAbbreviation } from './wallTime.ts'

/** The chart of some days, `/v8/finance/chart/{symbol}`. It answers browsers only, and other clients with 429. */
export const yahoo: SampleProvider = ({ path, query, headers, nowMs }) => {
  if (!(headers['user-agent'] ?? '').startsWith('Mozilla/')) return plain('Too Many Requests\r\n', 429)
  const [, symbol] = /^\/v8\/finance\/chart\/([^/]+)$/.exec(path) ?? []
  const listing = listings.find((one) => one.yahoo === symbol?.toUpperCase())
  if (listing === undefined) return json({ chart: { result: null, error: notFound } }, 404)
  const range = query.get('range') ?? '1d'
  return json({ chart: { result: [chartOf(listing, range, nowMs)], error: null } }, 200, {
    'content-type': 'application/json;charset=utf-8',
    'cache-control': 'public, max-age=10, stale-while-revalidate=20',
  })
}

const notFound = { code: 'Not Found', description: 'No data found, symbol may be delisted' }
const hourMs = 60 * 60 * 1000

/** Days of the calendar that a range of daily bars covers. */
const daysOfRange: Readonly<Record<string, number>> = { '5d': 7, '1mo': 31, '6mo': 183, '1y': 366 }

function chartOf(listing: Listing, range: string, nowMs: number) {
  const { session, price, previousClose, high, low } = figuresOf(listing, nowMs)
  const { exchange } = listing
  const bars = barsOf(listing, nowMs, daysOfRange[range] ?? 5).slice(range === '1d' ? -1 : 0)
  const timezone = zoneAbbreviation(exchange.timeZone, nowMs)
  const gmtoffset = wallTimeIn(exchange.timeZone, nowMs).offsetMs / 1000
  const period = (startMs: number, endMs: number) => ({
    timezone,
    start: startMs / 1000,
    end: endMs / 1000,
    gmtoffset,
  })
  return {
    meta: {
      currency: exchange.currency,
      symbol: listing.yahoo,
      exchangeName: exchange.yahooCode,
      fullExchangeName: exchange.yahooName,
      instrumentType: listing.kind,
      firstTradeDate: 345_479_400,
      regularMarketTime: Math.floor(session.lastTradeMs / 1000),
      hasPrePostMarketData: true,
      gmtoffset,
      timezone,
      exchangeTimezoneName: exchange.timeZone,
      regularMarketPrice: price,
      fiftyTwoWeekHigh: listing.price * 1.1,
      fiftyTwoWeekLow: listing.price * 0.7,
      regularMarketDayHigh: high,
      regularMarketDayLow: low,
      regularMarketVolume: listing.volume,
      longName: listing.name,
      shortName: listing.name,
      chartPreviousClose: previousClose,
      priceHint: 2,
      currentTradingPeriod: {
        pre: period(session.openMs - 5.5 * hourMs, session.openMs),
        regular: period(session.openMs, session.closeMs),
        post: period(session.closeMs, session.closeMs + 4 * hourMs),
      },
      dataGranularity: '1d',
      range,
      validRanges: ['1d', '5d', '1mo', '3mo', '6mo', '1y', '2y', '5y', '10y', 'ytd', 'max'],
    },
    timestamp: bars.map(({ openMs }) => openMs / 1000),
    indicators: {
      quote: [
        {
          close: bars.map(({ close }) => close),
          low: bars.map((bar) => bar.low),
          high: bars.map((bar) => bar.high),
          open: bars.map(({ open }) => open),
          volume: bars.map(({ volume }) => volume),
        },
      ],
      adjclose: [{ adjclose: bars.map(({ close }) => close) }],
    },
  }
}

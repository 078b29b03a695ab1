import { barsOf, type Listing, listings, priceAt } from '../listings.ts'
import { json, type SampleProvider } from '../sampleProvider.ts'

export const yahoo: SampleProvider = ({ path, query, nowMs }) => {
  const [, symbol] = /^\/v8\/finance\/chart\/([^/]+)$/.exec(path) ?? []
  const listing = listings.find((one) => one.symbol === symbol)
  if (listing === undefined) return json({ chart: { result: null, error: unknown } }, 404)
  return json({ chart: { result: [chartOf(listing, query.get('range') ?? '1d', nowMs)], error: null } })
}

const unknown = { code: 'Not Found', description: 'No data found, symbol may be delisted' }
const daysOf: Readonly<Record<string, number>> = { '5d': 5, '1mo': 22, '6mo': 127, '1y': 252 }
const dayMs = 24 * 60 * 60 * 1000

function chartOf(listing: Listing, range: string, nowMs: number) {
  const { symbol, name, volume, exchange } = listing
  const [price, dayAgo] = [priceAt(listing, nowMs), priceAt(listing, nowMs - dayMs)]
  const bars = barsOf(listing, nowMs, daysOf[range] ?? 1)
  return {
    meta: {
      symbol,
      longName: name,
      instrumentType: 'EQUITY',
      currency: exchange.currency,
      fullExchangeName: exchange.name,
      exchangeTimezoneName: exchange.timeZone,
      regularMarketTime: Math.floor(nowMs / 1000),
      regularMarketPrice: price,
      regularMarketDayHigh: Math.max(price, dayAgo),
      regularMarketDayLow: Math.min(price, dayAgo),
      regularMarketVolume: volume,
      chartPreviousClose: dayAgo,
      dataGranularity: '1d',
      range,
    },
    timestamp: bars.map(({ startMs }) => startMs / 1000),
    indicators: {
      quote: [
        {
          open: bars.map(({ open }) => open),
          high: bars.map(({ open, close }) => Math.max(open, close)),
          low: bars.map(({ open, close }) => Math.min(open, close)),
          close: bars.map(({ close }) => close),
          volume: bars.map(() => volume),
        },
      ],
    },
  }
}

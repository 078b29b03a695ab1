import { barsOf, figuresOf, type Listing, listings } from './listings.ts'
import { json, type SampleProvider } from './sampleProvider.ts'
import { wallTimeIn } from './wallTime.ts'

/** `/quote` and `/time_series` with `symbol` and `apikey`. Figures are strings, and errors are bodies with status 200. */
export const twelveData: SampleProvider = ({ path, query, nowMs }) => {
  if (path !== '/quote' && path !== '/time_series') return json(problem(404, 'the endpoint does not exist'), 404)
  if ((query.get('apikey') ?? '') === '')
    return json(problem(401, '**apikey** parameter is incorrect or not specified. You can get your free API key.'))
  const wanted = query.get('symbol')?.toUpperCase()
  const exchange = query.get('exchange') ?? query.get('mic_code')
  const listing = listings.find(
    ({ twelveData: name, exchange: { twelveDataName, micCode } }) =>
      name === wanted && (exchange === null || exchange === twelveDataName || exchange === micCode),
  )
  return json(
    listing === undefined
      ? problem(
          404,
          '**symbol** or **figi** parameter is missing or invalid. Please provide a valid symbol according to API documentation: https://twelvedata.com/docs#reference-data',
        )
      : path === '/quote'
        ? quoteOf(listing, nowMs)
        : seriesOf(listing, query, nowMs),
  )
}

function problem(code: number, message: string) {
  return { code, message, status: 'error' }
}

/** Daily bars, newest first unless the query sets the order. */
function seriesOf(listing: Listing, query: URLSearchParams, nowMs: number) {
  const { exchange } = listing
  const count = Number(query.get('outputsize') ?? '30')
  const bars = barsOf(listing, nowMs, 400).slice(-count)
  const values = bars.map(({ openMs, open, high, low, close, volume }) => ({
    datetime: wallTimeIn(exchange.timeZone, openMs).date,
    ...texts({ open, high, low, close }),
    volume: `${volume}`,
  }))
  return {
    meta: {
      symbol: listing.twelveData,
      interval: '1day',
      currency: exchange.currency,
      exchange_timezone: exchange.timeZone,
      exchange: exchange.twelveDataName,
      mic_code: exchange.micCode,
      type: listing.kind,
    },
    values: query.get('order') === 'ASC' ? values : values.toReversed(),
    status: 'ok',
  }
}

function quoteOf(listing: Listing, nowMs: number) {
  const { session, price, previousClose, change, changePercent, open, high, low } = figuresOf(listing, nowMs)
  const { exchange } = listing
  return {
    symbol: listing.twelveData,
    name: listing.name,
    exchange: exchange.twelveDataName,
    mic_code: exchange.micCode,
    currency: exchange.currency,
    datetime: wallTimeIn(exchange.timeZone, session.openMs).date,
    timestamp: session.openMs / 1000,
    last_quote_at: Math.floor(session.lastTradeMs / 1000),
    ...texts({ open, high, low, close: price }),
    volume: `${listing.volume}`,
    ...texts({ previous_close: previousClose, change, percent_change: changePercent }),
    average_volume: `${listing.volume}`,
    is_market_open: session.isOpen,
    fifty_two_week: {
      ...texts({ low: listing.price * 0.7, high: listing.price * 1.1 }),
      ...texts({ low_change: price - listing.price * 0.7, high_change: price - listing.price * 1.1 }),
      low_change_percent: '42.86',
      high_change_percent: '-9.09',
      range: `${(listing.price * 0.7).toFixed(6)} - ${(listing.price * 1.1).toFixed(6)}`,
    },
  }
}

function texts<Name extends string>(figures: Readonly<Record<Name, number>>) {
  return Object.fromEntries(Object.entries<number>(figures).map(([name, figure]) => [name, figure.toFixed(5)]))
}

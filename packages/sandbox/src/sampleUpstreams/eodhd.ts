import { barsOf, figuresOf, type Listing, listings } from './listings.ts'
import { json, plain, type SampleProvider, type SampleRequest } from './sampleProvider.ts'
import { wallTimeIn } from './wallTime.ts'

/** Answers `/api/real-time/{symbol}` and `/api/technical/{symbol}?function=splitadjusted`, both with `api_token`. */
export const eodhd: SampleProvider = (request) => {
  const { path, query, nowMs } = request
  const [, kind, symbol = ''] = /^\/api\/(real-time|technical)\/([^/]+)$/.exec(path) ?? []
  if (kind === undefined) return plain('404 Not Found', 404)
  if ((query.get('api_token') ?? '') === '') return json({ error: 'Unauthenticated', code: 403 }, 403)
  const listing = listings.find(({ eodhd: name }) => name === symbol.toUpperCase())
  if (kind === 'real-time') return json(listing === undefined ? unknownQuote(symbol) : quoteOf(listing, nowMs))
  return listing === undefined ? plain('Ticker Not Found.', 404) : json(daysOf(listing, request))
}

const missing = 'NA'

/** The answer for an unknown symbol, which has status 200. */
function unknownQuote(code: string) {
  const prices = { open: missing, high: missing, low: missing, close: missing, volume: missing, previousClose: missing }
  return { code, timestamp: missing, gmtoffset: 0, ...prices, change: missing, change_p: missing }
}

function quoteOf(listing: Listing, nowMs: number) {
  const { session, price, previousClose, change, changePercent, open, high, low } = figuresOf(listing, nowMs)
  const prices = { open, high, low, close: price, volume: listing.volume, previousClose, change }
  return {
    code: listing.eodhd,
    timestamp: Math.floor(session.lastTradeMs / 1000),
    gmtoffset: 0,
    ...prices,
    change_p: changePercent,
  }
}

/** Daily bars, oldest first, without the current day. */
function daysOf(listing: Listing, { query, nowMs }: SampleRequest) {
  const dateOf = (atMs: number) => wallTimeIn(listing.exchange.timeZone, atMs).date
  return barsOf(listing, nowMs, 400)
    .map(({ openMs, open, high, low, close, volume }) => ({ date: dateOf(openMs), open, high, low, close, volume }))
    .filter(({ date }) => date >= (query.get('from') ?? '') && date < dateOf(nowMs))
}

import { barsOf, figuresOf, type Listing, listings } from './listings.ts'
import { json, plain, type SampleProvider } from './sampleProvider.ts'
import { wallTimeIn } from './wallTime.ts'

/** `/api/quote/{symbol}/info` and `/historical`: figures as texts for people, browsers only, and a no comes under 200. */
export const nasdaq: SampleProvider = ({ path, query, headers, nowMs }) => {
  if (!(headers['user-agent'] ?? '').startsWith('Mozilla/')) return plain('Access Denied', 403, 'text/html')
  const [, symbol, what] = /^\/api\/quote\/([^/]+)\/(info|historical)$/.exec(path) ?? []
  const kind = query.get('assetclass') === 'etf' ? 'ETF' : 'EQUITY'
  const listing = listings.find((one) => one.kind === kind && one.nasdaq === symbol?.toUpperCase())
  if (listing === undefined) return json(symbolNotExists)
  return json(what === 'info' ? infoOf(listing, nowMs) : historyOf(listing, query, nowMs))
}

const symbolNotExists = {
  data: null,
  message: null,
  status: {
    rCode: 400,
    bCodeMessage: [{ code: 1001, errorMessage: 'Symbol not exists.' }],
    developerMessage: null,
  },
}

/** Days that have ended, newest first. */
function historyOf(listing: Listing, query: URLSearchParams, nowMs: number) {
  const { timeZone } = listing.exchange
  const today = wallTimeIn(timeZone, nowMs).date
  const rows = barsOf(listing, nowMs, 400)
    .map((bar) => ({ ...bar, date: wallTimeIn(timeZone, bar.openMs).date }))
    .filter(({ date }) => date >= (query.get('fromdate') ?? today) && date < today)
    .toReversed()
    .slice(0, Number(query.get('limit') ?? '14'))
    .map(({ date, volume, open, high, low, close }) => ({
      date: date.replace(/(....)-(..)-(..)/, '$2/$3/$1'),
      close: `$${close.toFixed(2)}`,
      volume: volume.toLocaleString('en-US'),
      open: `$${open.toFixed(2)}`,
      high: `$${high.toFixed(2)}`,
      low: `$${low.toFixed(2)}`,
    }))
  const headers = { date: 'Date', close: 'Close/Last', volume: 'Volume', open: 'Open', high: 'High', low: 'Low' }
  return {
    data: { symbol: listing.nasdaq, totalRecords: rows.length, tradesTable: { asOf: null, headers, rows } },
    message: null,
    status: { rCode: 200, bCodeMessage: null, developerMessage: null },
  }
}

function infoOf(listing: Listing, nowMs: number) {
  const { session, price, change, changePercent } = figuresOf(listing, nowMs)
  return {
    data: {
      symbol: listing.nasdaq,
      companyName: `${listing.name} Common Stock`,
      stockType: 'Common Stock',
      exchange: listing.exchange.yahooName === 'NasdaqGS' ? 'NASDAQ-GS' : 'NYSE',
      isNasdaqListed: listing.exchange.yahooName === 'NasdaqGS',
      isNasdaq100: false,
      isHeld: false,
      primaryData: {
        lastSalePrice: `$${price.toFixed(2)}`,
        netChange: signed(change),
        percentageChange: `${signed(changePercent)}%`,
        deltaIndicator: change < 0 ? 'down' : 'up',
        lastTradeTimestamp: tradeTime(session.lastTradeMs, session.isOpen),
        isRealTime: session.isOpen,
        bidPrice: 'N/A',
        askPrice: 'N/A',
        bidSize: 'N/A',
        askSize: 'N/A',
        volume: listing.volume.toLocaleString('en-US'),
        currency: null,
      },
      secondaryData: null,
      marketStatus: session.isOpen ? 'Open' : 'Closed',
      assetClass: listing.kind === 'ETF' ? 'ETF' : 'STOCKS',
      keyStats: null,
    },
    message: null,
    status: { rCode: 200, bCodeMessage: null, developerMessage: null },
  }
}

function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(2)}`
}

/** `Nov 20, 2026 12:49 PM ET` while it trades, the day alone afterwards. */
function tradeTime(atMs: number, isOpen: boolean): string {
  const timeZone = 'America/New_York'
  const day = new Intl.DateTimeFormat('en-US', { timeZone, dateStyle: 'medium' }).format(atMs)
  if (!isOpen) return day
  const time = new Intl.DateTimeFormat('en-US', { timeZone, hour: 'numeric', minute: '2-digit' }).format(atMs)
  return `${day} ${time.replace(/\s/, ' ')} ET`
}

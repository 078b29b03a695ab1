import { figuresOf, type Listing, listings } from './listings.ts'
import { json, plain, type SampleProvider } from './sampleProvider.ts'

/** `/api/quote/{symbol}/info`: figures as texts for people, browsers only, and a no comes under 200. */
export const nasdaq: SampleProvider = ({ path, query, headers, nowMs }) => {
  if (!(headers['user-agent'] ?? '').startsWith('Mozilla/')) return plain('Access Denied', 403, 'text/html')
  const [, symbol] = /^\/api\/quote\/([^/]+)\/info$/.exec(path) ?? []
  const kind = query.get('assetclass') === 'etf' ? 'ETF' : 'EQUITY'
  const listing = listings.find((one) => one.kind === kind && one.nasdaq === symbol?.toUpperCase())
  return json(listing === undefined ? symbolNotExists : infoOf(listing, nowMs))
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

import { drift, rounded } from './drift.ts'
import { lastSessionOf, previousCloseMs, sessionsOf, type TradingSession } from './tradingSession.ts'

/** A sample listing with its names at both providers. The figures are invented. */
export interface Listing {
  readonly twelveData: string
  readonly eodhd: string
  readonly name: string
  readonly exchange: Exchange
  readonly kind: 'Common Stock' | 'ETF'
  /** Price in the exchange's unit, for example pence in London. */
  readonly price: number
  readonly volume: number
}

interface Exchange {
  readonly timeZone: string
  readonly currency: string
  readonly twelveDataName: string
  readonly micCode: string
}

const timeZone = 'America/New_York'
const exchanges = {
  nasdaq: { timeZone, currency: 'USD', twelveDataName: 'NASDAQ', micCode: 'XNAS' },
  nyse: { timeZone, currency: 'USD', twelveDataName: 'NYSE', micCode: 'XNYS' },
  arca: { timeZone, currency: 'USD', twelveDataName: 'NYSE', micCode: 'ARCX' },
  london: { timeZone: 'Europe/London', currency: 'GBp', twelveDataName: 'LSE', micCode: 'XLON' },
  hongKong: { timeZone: 'Asia/Hong_Kong', currency: 'HKD', twelveDataName: 'HKEX', micCode: 'XHKG' },
} as const satisfies Record<string, Exchange>

type Names = readonly [twelveData: string, eodhd: string, name: string]
type Facts = readonly [exchange: keyof typeof exchanges, price: number, volume: number]

const rows: readonly (readonly [...Names, ...Facts])[] = [
  ['AAPL', 'AAPL.US', 'Apple Inc.', 'nasdaq', 265, 45e6],
  ['MSFT', 'MSFT.US', 'Microsoft Corporation', 'nasdaq', 480, 21e6],
  ['GOOGL', 'GOOGL.US', 'Alphabet Inc.', 'nasdaq', 290, 27e6],
  ['AMZN', 'AMZN.US', 'Amazon.com, Inc.', 'nasdaq', 225, 40e6],
  ['NVDA', 'NVDA.US', 'NVIDIA Corporation', 'nasdaq', 185, 180e6],
  ['TSLA', 'TSLA.US', 'Tesla, Inc.', 'nasdaq', 400, 80e6],
  ['IBM', 'IBM.US', 'International Business Machines', 'nyse', 300, 4.5e6],
  ['KO', 'KO.US', 'The Coca-Cola Company', 'nyse', 71, 15e6],
  ['BRK.B', 'BRK-B.US', 'Berkshire Hathaway Inc. Class B', 'nyse', 505, 4e6],
  ['SPY', 'SPY.US', 'SPDR S&P 500 ETF Trust', 'arca', 660, 75e6],
  ['VOD', 'VOD.LSE', 'Vodafone Group Plc', 'london', 92, 50e6],
  ['0700', '0700.HK', 'Tencent Holdings Limited', 'hongKong', 620, 20e6],
]

export const listings = rows.map(([twelveData, eodhd, name, exchange, price, volume]): Listing => {
  const kind = exchange === 'arca' ? 'ETF' : 'Common Stock'
  return { twelveData, eodhd, name, exchange: exchanges[exchange], kind, price, volume }
})

export interface ListingFigures {
  readonly session: TradingSession
  readonly price: number
  readonly previousClose: number
  readonly change: number
  readonly changePercent: number
  readonly open: number
  readonly high: number
  readonly low: number
}

export function figuresOf(listing: Listing, nowMs: number): ListingFigures {
  const { timeZone } = listing.exchange
  const session = lastSessionOf(timeZone, nowMs)
  const price = priceOf(listing, session.lastTradeMs)
  const open = priceOf(listing, session.openMs)
  const previousClose = priceOf(listing, previousCloseMs(timeZone, session))
  return {
    session,
    price,
    previousClose,
    change: rounded(price - previousClose, 2),
    changePercent: rounded((price / previousClose - 1) * 100, 5),
    open,
    high: Math.max(price, open),
    low: Math.min(price, open),
  }
}

/** One bar per session within the last `days` days, oldest first. */
export function barsOf(listing: Listing, nowMs: number, days: number) {
  return sessionsOf(listing.exchange.timeZone, nowMs, days).map(({ openMs, lastTradeMs }) => {
    const [open, close] = [priceOf(listing, openMs), priceOf(listing, lastTradeMs)]
    return { openMs, open, close, high: Math.max(open, close), low: Math.min(open, close), volume: listing.volume }
  })
}

const swing = 0.015

function priceOf({ eodhd, price }: Listing, atMs: number): number {
  return rounded(price * (1 + swing * drift(eodhd, atMs)), 2)
}

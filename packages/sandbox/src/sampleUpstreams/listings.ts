import { drift, rounded } from './drift.ts'
import { lastSessionOf, previousCloseMs, sessionsOf, type TradingSession } from './tradingSession.ts'

/** A sample listing under the names that the four providers have for it. The figures are invented. */
export interface Listing {
  readonly name: string
  readonly exchange: Exchange
  readonly kind: 'EQUITY' | 'ETF'
  readonly yahoo: string
  readonly stooq: string
  readonly twelveData: string
  /** Undefined where Nasdaq's site does not know it. */
  readonly nasdaq?: string
  /** In the exchange's unit: pence in London. */
  readonly price: number
  readonly volume: number
}

interface Exchange {
  readonly timeZone: string
  readonly currency: string
  readonly yahooCode: string
  readonly yahooName: string
  readonly twelveDataName: string
  readonly micCode: string
}

const exchanges = {
  nasdaq: {
    timeZone: 'America/New_York',
    currency: 'USD',
    yahooCode: 'NMS',
    yahooName: 'NasdaqGS',
    twelveDataName: 'NASDAQ',
    micCode: 'XNAS',
  },
  nyse: {
    timeZone: 'America/New_York',
    currency: 'USD',
    yahooCode: 'NYQ',
    yahooName: 'NYSE',
    twelveDataName: 'NYSE',
    micCode: 'XNYS',
  },
  arca: {
    timeZone: 'America/New_York',
    currency: 'USD',
    yahooCode: 'PCX',
    yahooName: 'NYSEArca',
    twelveDataName: 'NYSE',
    micCode: 'ARCX',
  },
  london: {
    timeZone: 'Europe/London',
    currency: 'GBp',
    yahooCode: 'LSE',
    yahooName: 'LSE',
    twelveDataName: 'LSE',
    micCode: 'XLON',
  },
  hongKong: {
    timeZone: 'Asia/Hong_Kong',
    currency: 'HKD',
    yahooCode: 'HKG',
    yahooName: 'HKSE',
    twelveDataName: 'HKEX',
    micCode: 'XHKG',
  },
} as const satisfies Record<string, Exchange>

export const listings: readonly Listing[] = [
  american('AAPL', 'Apple Inc.', { exchange: exchanges.nasdaq, price: 265, volume: 45_000_000 }),
  american('MSFT', 'Microsoft Corporation', { exchange: exchanges.nasdaq, price: 480, volume: 21_000_000 }),
  american('GOOGL', 'Alphabet Inc.', { exchange: exchanges.nasdaq, price: 290, volume: 27_000_000 }),
  american('AMZN', 'Amazon.com, Inc.', { exchange: exchanges.nasdaq, price: 225, volume: 40_000_000 }),
  american('NVDA', 'NVIDIA Corporation', { exchange: exchanges.nasdaq, price: 185, volume: 180_000_000 }),
  american('TSLA', 'Tesla, Inc.', { exchange: exchanges.nasdaq, price: 400, volume: 80_000_000 }),
  american('IBM', 'International Business Machines', { exchange: exchanges.nyse, price: 300, volume: 4_500_000 }),
  american('KO', 'The Coca-Cola Company', { exchange: exchanges.nyse, price: 71, volume: 15_000_000 }),
  {
    ...american('BRK.B', 'Berkshire Hathaway Inc. Class B', {
      exchange: exchanges.nyse,
      price: 505,
      volume: 4_000_000,
    }),
    yahoo: 'BRK-B',
    stooq: 'brk-b.us',
  },
  {
    ...american('SPY', 'SPDR S&P 500 ETF Trust', { exchange: exchanges.arca, price: 660, volume: 75_000_000 }),
    kind: 'ETF',
  },
  {
    name: 'Vodafone Group Plc',
    exchange: exchanges.london,
    kind: 'EQUITY',
    yahoo: 'VOD.L',
    stooq: 'vod.uk',
    twelveData: 'VOD',
    price: 92,
    volume: 50_000_000,
  },
  {
    name: 'Tencent Holdings Limited',
    exchange: exchanges.hongKong,
    kind: 'EQUITY',
    yahoo: '0700.HK',
    stooq: '700.hk',
    twelveData: '0700',
    price: 620,
    volume: 20_000_000,
  },
]

/** Most providers have one name for an American share. */
function american(
  symbol: string,
  name: string,
  rest: Pick<Listing, 'price' | 'volume'> & { readonly exchange: Exchange },
): Listing {
  return {
    ...rest,
    name,
    kind: 'EQUITY',
    yahoo: symbol,
    stooq: `${symbol.toLowerCase()}.us`,
    twelveData: symbol,
    nasdaq: symbol,
  }
}

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

/** One bar for each session of some days, oldest first. */
export function barsOf(listing: Listing, nowMs: number, days: number) {
  return sessionsOf(listing.exchange.timeZone, nowMs, days).map(({ openMs, lastTradeMs }) => {
    const [open, close] = [priceOf(listing, openMs), priceOf(listing, lastTradeMs)]
    return { openMs, open, close, high: Math.max(open, close), low: Math.min(open, close), volume: listing.volume }
  })
}

const swing = 0.015

function priceOf({ yahoo, price }: Listing, atMs: number): number {
  return rounded(price * (1 + swing * drift(yahoo, atMs)), 2)
}

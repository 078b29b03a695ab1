import { drift, rounded } from './drift.ts'

/** The figures are invented. */
export interface Listing {
  readonly symbol: string
  readonly name: string
  readonly exchange: Exchange
  /** The unit is that of the exchange, for example pence in London. */
  readonly price: number
  readonly volume: number
}

interface Exchange {
  readonly name: string
  readonly timeZone: string
  readonly currency: string
}

const nasdaq: Exchange = { name: 'NasdaqGS', timeZone: 'America/New_York', currency: 'USD' }
const nyse: Exchange = { ...nasdaq, name: 'NYSE' }
const london: Exchange = { name: 'LSE', timeZone: 'Europe/London', currency: 'GBp' }
const hongKong: Exchange = { name: 'HKSE', timeZone: 'Asia/Hong_Kong', currency: 'HKD' }

export const listings: readonly Listing[] = [
  { symbol: 'AAPL', name: 'Apple Inc.', exchange: nasdaq, price: 265, volume: 45e6 },
  { symbol: 'MSFT', name: 'Microsoft Corporation', exchange: nasdaq, price: 480, volume: 21e6 },
  { symbol: 'GOOGL', name: 'Alphabet Inc.', exchange: nasdaq, price: 290, volume: 27e6 },
  { symbol: 'AMZN', name: 'Amazon.com, Inc.', exchange: nasdaq, price: 225, volume: 40e6 },
  { symbol: 'NVDA', name: 'NVIDIA Corporation', exchange: nasdaq, price: 185, volume: 180e6 },
  { symbol: 'TSLA', name: 'Tesla, Inc.', exchange: nasdaq, price: 400, volume: 80e6 },
  { symbol: 'IBM', name: 'International Business Machines', exchange: nyse, price: 300, volume: 4.5e6 },
  { symbol: 'BRK-B', name: 'Berkshire Hathaway Inc. Class B', exchange: nyse, price: 505, volume: 4e6 },
  { symbol: 'VOD.L', name: 'Vodafone Group Plc', exchange: london, price: 92, volume: 50e6 },
  { symbol: '0700.HK', name: 'Tencent Holdings Limited', exchange: hongKong, price: 620, volume: 20e6 },
]

const swing = 0.015

/** Sample exchanges trade around the clock, so that there is always a price of today. */
export function priceAt({ symbol, price }: Listing, atMs: number): number {
  return rounded(price * (1 + swing * drift(symbol, atMs)), 2)
}

const dayMs = 24 * 60 * 60 * 1000

/** Returns a bar for each of the last weekdays in UTC, oldest first. The last bar may not have ended. */
export function barsOf(listing: Listing, nowMs: number, count: number) {
  const todayMs = nowMs - (nowMs % dayMs)
  // Start with twice as many days, which contain enough weekdays. Two more days are needed for a count of one at a
  // weekend.
  return Array.from({ length: count * 2 + 2 }, (_, back) => todayMs - back * dayMs)
    .filter((startMs) => ![0, 6].includes(new Date(startMs).getUTCDay()))
    .slice(0, count)
    .toReversed()
    .map((startMs) => ({
      startMs,
      open: priceAt(listing, startMs),
      close: priceAt(listing, Math.min(nowMs, startMs + dayMs)),
    }))
}

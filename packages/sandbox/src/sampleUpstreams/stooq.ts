import { figuresOf, type Listing, listings } from './listings.ts'
import { plain, type SampleProvider } from './sampleProvider.ts'
import { wallTimeIn } from './wallTime.ts'

/** The light CSV, `/q/l/?s=&f=sd2t2ohlcvp`: what is unknown is a row of N/D, and times are Warsaw's. */
export const stooq: SampleProvider = ({ path, query, nowMs }) => {
  if (path !== '/q/l/') return plain('404 Not Found', 404, 'text/html')
  const wanted = (query.get('s') ?? '').split(/[ +]/).filter((symbol) => symbol !== '')
  const rows = wanted.map((symbol) => rowOf(symbol, nowMs))
  return plain([...(query.has('h') ? [header] : []), ...rows, ''].join('\r\n'), 200, 'text/csv')
}

const header = 'Symbol,Date,Time,Open,High,Low,Close,Volume,Prev'

function rowOf(symbol: string, nowMs: number): string {
  const listing = listings.find(({ stooq: name }) => name === symbol.toLowerCase())
  const cells = listing === undefined ? Array.from({ length: 8 }, () => 'N/D') : cellsOf(listing, nowMs)
  return [symbol.toUpperCase(), ...cells].join(',')
}

function cellsOf(listing: Listing, nowMs: number): readonly string[] {
  const { session, open, high, low, price, previousClose } = figuresOf(listing, nowMs)
  const { date, time } = wallTimeIn('Europe/Warsaw', session.lastTradeMs)
  return [date, time, ...[open, high, low, price, listing.volume, previousClose].map(String)]
}

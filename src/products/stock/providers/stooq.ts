import type { Reply } from '../../../sourcing/upstreamRequest.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { baseUrlOf } from '../../../product/upstreamName.ts'
import { decimalOf, type Observation, paceOf, type ProviderDeps, refuseStatus } from '../../../sourcing/provider.ts'
import { stockObservation, type StockPrice, type StockProvider, type StockQuery } from './stockPrice.ts'
import { isOfUnitedStates, withClass } from './ticker.ts'
import { usSessionSinceMs } from './usSession.ts'
import { epochMsOf } from '../../../sourcing/zonedTime.ts'

const pacePublic = { requests: 1, perSeconds: 5 }
// The limit is daily and its end is unknown, so the provider is asked again after the longest pause.
const limitPauseMs = 15 * 60_000
const columns = 'Symbol,Date,Time,Open,High,Low,Close,Volume,Prev'
const timeZone = 'Europe/Warsaw'

/** The light quote as CSV. Only the United States: for other exchanges it does not name the currency. */
export function createStooq(deps: ProviderDeps): StockProvider {
  const setting = deps.upstreams.STOOQ
  const upstream = deps.openUpstream({
    name: 'stooq',
    base: baseUrlOf(setting, 'https://stooq.com'),
    pace: paceOf(setting, pacePublic),
    timeoutMs: 2_500,
    headers: { accept: 'text/csv, */*;q=0.1' },
  })
  return {
    name: 'stooq',
    pace: upstream.pace,
    whyUnavailable: () => upstream.whyResting(),
    covers: ({ ticker }) => isOfUnitedStates(ticker),
    async ask(query) {
      if (!isOfUnitedStates(query.ticker)) throw new UpstreamFailure('not_covered', 'only the United States')
      const symbol = `${withClass(query.ticker, '-')}.US`
      // `p` is the previous close; `h` asks for column names, which we check.
      const fields = { s: symbol.toLowerCase(), f: 'sd2t2ohlcvp', h: '', e: 'csv' }
      return upstream.ask({ path: '/q/l/', query: fields }, (reply) =>
        read({ reply, query, symbol, nowMs: deps.clock.nowMs() }),
      )
    },
  }
}

interface Reading {
  readonly reply: Reply
  readonly query: StockQuery
  readonly symbol: string
  readonly nowMs: number
}

function read({ reply, query, symbol, nowMs }: Reading): Observation<StockPrice> {
  const [header = '', row = '', ...others] = reply.text.trim().split(/\r?\n/)
  refuseText(reply)
  if (header.trim().toLowerCase() !== columns.toLowerCase() || others.length > 0)
    throw new UpstreamFailure('bad_payload', 'not the columns we asked for')
  const [found = '', date = '', time = '', open, high, low, close, volume, previous] = row.trim().split(',')
  if (found.toUpperCase() !== symbol) throw new UpstreamFailure('bad_payload', 'another symbol was answered')
  if (date === 'N/D' && close === 'N/D') throw new UpstreamFailure('not_found', 'every column is N/D')
  return stockObservation(query, {
    price: decimalOf(close),
    previousClose: decimalOf(previous),
    volume: decimalOf(volume),
    open: decimalOf(open),
    high: decimalOf(high),
    low: decimalOf(low),
    asOfMs: asOfMsOf(date, time),
    currency: 'USD',
    openSinceMs: usSessionSinceMs(nowMs),
    nowMs,
  })
}

/** Messages other than quotes come as text under 200. */
function refuseText(reply: Reply): void {
  const { text } = reply
  if (/exceeded the daily hits limit/i.test(text))
    throw new UpstreamFailure('rate_limited', 'the limit of the day', { retryAfterMs: limitPauseMs })
  if (/apikey/i.test(text)) throw new UpstreamFailure('auth', 'wants a key')
  refuseStatus(reply, 'bad_payload')
}

function asOfMsOf(date: string, time: string): number | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(date) ?? []
  const [, hour, minute, second] = /^(\d{2}):(\d{2}):(\d{2})$/.exec(time) ?? []
  if (year === undefined || hour === undefined) return undefined
  return epochMsOf(
    {
      year: Number(year),
      month: Number(month),
      day: Number(day),
      hour: Number(hour),
      minute: Number(minute),
      second: Number(second),
    },
    timeZone,
  )
}

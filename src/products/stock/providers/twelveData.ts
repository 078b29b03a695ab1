import { z } from 'zod'
import type { Reply } from '../../../outbound/upstreamRequest.ts'
import type { PriceHistory } from '../../../sourcing/history/priceHistory.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { decimalOf, type Observation, type ProviderDeps } from '../../../sourcing/provider.ts'
import { errorIn, readJson, refuseStatus } from '../../../outbound/upstreamReply.ts'
import { ofUpstream, openUpstreamOf } from '../../../outbound/publicUpstream.ts'
import {
  midnightMsOf,
  type StockHistoryQuery,
  stockHistoryObservation,
  type StockRange,
  type StockSources,
} from './stockHistory.ts'
import { stockObservation, type StockPrice, type StockQuery, wholeUnitOf } from './stockPrice.ts'
import { isSameSymbol, withClass } from './ticker.ts'
import { usSessionSinceMs } from './usSession.ts'

// Twelve Data's Basic plan allows 8 credits a minute and 800 a day. A quote costs one credit.
const pacePublic = { requests: 8, perSeconds: 60 }
const minutePauseMs = 60_000

/** Market identifier codes (ISO 10383) by suffix. Listings at other exchanges are not requested from Twelve Data. */
const micOfSuffix: ReadonlyMap<string, string> = new Map([
  ['L', 'XLON'],
  ['DE', 'XETR'],
  ['PA', 'XPAR'],
  ['AS', 'XAMS'],
  ['BR', 'XBRU'],
  ['MI', 'XMIL'],
  ['MC', 'XMAD'],
  ['SW', 'XSWX'],
  ['ST', 'XSTO'],
  ['HK', 'XHKG'],
  ['T', 'XJPX'],
  ['TO', 'XTSE'],
  ['AX', 'XASX'],
  ['NS', 'XNSE'],
])

const text = z.string().max(500).nullish()
const quote = z.object({
  symbol: z.string(),
  name: text,
  exchange: text,
  mic_code: text,
  currency: text,
  close: text,
  open: text,
  high: text,
  low: text,
  percent_change: text,
  previous_close: text,
  volume: text,
  timestamp: z.number().nullish(),
  last_quote_at: z.number().nullish(),
  is_market_open: z.boolean().nullish(),
})

/** Opens Twelve Data. Undefined without the operator's key. */
export function openTwelveData(deps: ProviderDeps): StockSources | undefined {
  const key = deps.upstreams.TWELVE_DATA?.apiKey
  if (key === undefined) return undefined
  const publicBase = 'https://api.twelvedata.com'
  const upstream = openUpstreamOf(deps, 'TWELVE_DATA', {
    name: 'twelvedata',
    publicBase,
    pace: pacePublic,
    timeoutMs: 3_000,
  })
  const provider = {
    ...ofUpstream(upstream),
    isMetered: true,
    covers: ({ ticker: { exchangeSuffix } }: StockQuery) =>
      exchangeSuffix === undefined || micOfSuffix.has(exchangeSuffix),
  }
  const reading = (query: StockQuery) => ({ mic: micOf(query), nowMs: deps.clock.nowMs() })
  return {
    prices: {
      ...provider,
      async ask(query) {
        const asked = { path: '/quote', query: fieldsOf(query, key) }
        return upstream.ask(asked, (reply) => readQuote(reply, query, reading(query)))
      },
    },
    histories: {
      ...provider,
      async ask(query) {
        const options = { interval: '1day', outputsize: rowsOf[query.range], order: 'ASC', adjust: 'splits' }
        const asked = { path: '/time_series', query: { ...fieldsOf(query, key), ...options } }
        return upstream.ask(asked, (reply) => readSeries(reply, query, reading(query)))
      },
    },
  }
}

/**
 * Returns the parameters of a request. The API requires the key as a parameter, so our logs and errors never contain
 * addresses.
 */
function fieldsOf(query: StockQuery, key: string): Readonly<Record<string, string>> {
  const mic = micOf(query)
  const place = mic === undefined ? undefined : { mic_code: mic }
  return { symbol: withClass(query.ticker, '.'), ...place, apikey: key }
}

/**
 * Returns the ISO 10383 code of the exchange. Undefined for a ticker without an exchange. Throws `not_covered` for a
 * suffix without a code.
 */
function micOf({ ticker: { exchangeSuffix } }: StockQuery): string | undefined {
  if (exchangeSuffix === undefined) return undefined
  const mic = micOfSuffix.get(exchangeSuffix)
  if (mic === undefined) throw new UpstreamFailure('not_covered', 'no code for this exchange')
  return mic
}

interface Reading {
  readonly mic: string | undefined
  readonly nowMs: number
}

// Ten hours are longer than any trading session of the listed exchanges, so an older price must be from an earlier day.
const sessionMsMax = 10 * 60 * 60_000

function readQuote(reply: Reply, query: StockQuery, { mic, nowMs }: Reading): Observation<StockPrice> {
  refuseError(reply)
  const found = readJson(reply, quote)
  refuseOther(found, query, mic)
  return stockObservation(query, {
    price: decimalOf(found.close),
    previousClose: decimalOf(found.previous_close),
    volume: decimalOf(found.volume),
    open: decimalOf(found.open),
    high: decimalOf(found.high),
    low: decimalOf(found.low),
    changePercent: decimalOf(found.percent_change),
    // Prefer `last_quote_at`, because `timestamp` is the start of the daily bar, hours before the price.
    asOfMs: (found.last_quote_at ?? found.timestamp ?? 0) * 1000,
    currency: found.currency,
    name: found.name,
    exchange: found.exchange,
    openSinceMs: found.is_market_open === true ? openSinceMs(mic, nowMs) : undefined,
    nowMs,
    ...(typeof found.is_market_open === 'boolean'
      ? { marketState: found.is_market_open ? ('REGULAR' as const) : ('CLOSED' as const) }
      : {}),
  })
}

type Listed = Pick<z.infer<typeof quote>, 'symbol' | 'mic_code'>

function refuseOther({ symbol, mic_code: answered }: Listed, { ticker }: StockQuery, mic: string | undefined): void {
  if (!isSameSymbol(symbol, withClass(ticker, '.')))
    throw new UpstreamFailure('bad_payload', 'another symbol was answered')
  if (mic !== undefined && answered !== mic) throw new UpstreamFailure('not_covered', 'another exchange answered')
}

function openSinceMs(mic: string | undefined, nowMs: number): number {
  return (mic === undefined ? usSessionSinceMs(nowMs) : undefined) ?? nowMs - sessionMsMax
}

const errorBody = z.object({ status: z.literal('error'), code: z.number(), message: z.string() })

/** Throws for an error of Twelve Data, which is in the body, usually with status 200. */
function refuseError(reply: Reply): void {
  const error = errorIn(reply, errorBody)
  if (error === undefined) return refuseStatus(reply, 'bad_payload')
  const { code, message } = error
  if (code === 429) throw new UpstreamFailure('rate_limited', 'credits are used up', { retryAfterMs: minutePauseMs })
  if (code === 401) throw new UpstreamFailure('auth', 'the key is not accepted')
  // Check the text of the message, because unknown symbols and symbols of another plan have the same error code.
  if (/\bplan\b|available starting with|upgrade/i.test(message))
    throw new UpstreamFailure('incomplete', 'the symbol exists and belongs to another plan')
  if (code === 403) throw new UpstreamFailure('auth', 'not for this key')
  if (code === 404 || (code === 400 && /symbol/i.test(message)))
    throw new UpstreamFailure('not_found', 'unknown symbol')
  throw new UpstreamFailure(code >= 500 ? 'upstream' : 'bad_payload', `error ${code} in the body`)
}

const dayMs = 24 * 60 * 60_000
/** Rows to request for each range, one for each trading day. Twelve Data limits a series by its rows. */
const rowsOf: Readonly<Record<StockRange, string>> = { '5d': '5', '1mo': '22', '6mo': '127', '1y': '252' }

const day = z.object({
  datetime: z.iso.date(),
  open: z.string(),
  high: z.string(),
  low: z.string(),
  close: z.string(),
  volume: z.string().optional(),
})
const series = z.object({
  meta: z.object({
    symbol: z.string(),
    interval: z.literal('1day'),
    currency: z.string(),
    exchange_timezone: z.string(),
    mic_code: z.string().optional(),
  }),
  values: z.array(day).max(300),
})

/** Reads a history. Its bars are adjusted for splits but not for dividends. A bar starts at midnight at the exchange. */
function readSeries(reply: Reply, query: StockHistoryQuery, { mic, nowMs }: Reading): Observation<PriceHistory> {
  refuseError(reply)
  const { meta, values } = readJson(reply, series)
  refuseOther(meta, query, mic)
  const { exchange_timezone: timeZone } = meta
  const { currency, inWhole } = wholeUnitOf(meta.currency)
  const bars = values.map((row) => {
    const read = (text: string) => inWhole(decimalOf(text) ?? Number.NaN)
    return {
      startMs: midnightMsOf(row.datetime, timeZone),
      open: read(row.open),
      high: read(row.high),
      low: read(row.low),
      close: read(row.close),
      volume: decimalOf(row.volume),
    }
  })
  const history = { bars, intervalMs: dayMs, currency, facts: { adjusted: 'splits' } }
  return stockHistoryObservation(history, query, { nowMs, timeZone })
}

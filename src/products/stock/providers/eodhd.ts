import { z } from 'zod'
import { isoTime } from '@tollbook/core/clock'
import type { Reply } from '../../../outbound/upstreamRequest.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { Observation, ProviderDeps } from '../../../sourcing/provider.ts'
import { ofUpstream, openUpstreamOf } from '../../../outbound/publicUpstream.ts'
import { parseJson, readJson, refuseStatus } from '../../../outbound/upstreamReply.ts'
import type { PriceHistory } from '../../../sourcing/history/priceHistory.ts'
import {
  midnightMsOf,
  type StockHistoryQuery,
  stockHistoryObservation,
  type StockRange,
  type StockSources,
} from './stockHistory.ts'
import { stockObservation, type StockPrice, type StockQuery, wholeUnitOf } from './stockPrice.ts'
import { isOfUnitedStates, isSameSymbol, withClass } from './ticker.ts'
import { usSessionSinceMs } from './usSession.ts'

// EODHD allows 1,000 requests a minute and 100,000 calls a day. A history counts as five calls.
const pacePublic = { requests: 60, perSeconds: 60 }
// Minimum delay of prices. EODHD's API documentation states 15 to 20 minutes.
const delayedByMinutes = 15

interface EodhdExchange {
  readonly code: string
  /** Currency of most listings at the exchange, because EODHD's answers do not contain a currency. */
  readonly currency: string
  readonly timeZone: string
}

const unitedStates: EodhdExchange = { code: 'US', currency: 'USD', timeZone: 'America/New_York' }
const exchangeOfSuffix: ReadonlyMap<string, EodhdExchange> = new Map([
  ['L', { code: 'LSE', currency: 'GBX', timeZone: 'Europe/London' }],
  ['DE', { code: 'XETRA', currency: 'EUR', timeZone: 'Europe/Berlin' }],
  ['PA', { code: 'PA', currency: 'EUR', timeZone: 'Europe/Paris' }],
  ['AS', { code: 'AS', currency: 'EUR', timeZone: 'Europe/Amsterdam' }],
  ['BR', { code: 'BR', currency: 'EUR', timeZone: 'Europe/Brussels' }],
  ['MC', { code: 'MC', currency: 'EUR', timeZone: 'Europe/Madrid' }],
  ['SW', { code: 'SW', currency: 'CHF', timeZone: 'Europe/Zurich' }],
  ['ST', { code: 'ST', currency: 'SEK', timeZone: 'Europe/Stockholm' }],
  ['HK', { code: 'HK', currency: 'HKD', timeZone: 'Asia/Hong_Kong' }],
  ['TO', { code: 'TO', currency: 'CAD', timeZone: 'America/Toronto' }],
  ['AX', { code: 'AU', currency: 'AUD', timeZone: 'Australia/Sydney' }],
])

/**
 * Returns EODHD's exchange of a listing. Undefined: EODHD is not used for the listing. EODHD is used only for exchanges
 * that another provider covers, so that a wrong currency would be noticed.
 */
function exchangeOf({ ticker }: StockQuery): EodhdExchange | undefined {
  if (ticker.exchangeSuffix !== undefined) return exchangeOfSuffix.get(ticker.exchangeSuffix)
  return isOfUnitedStates(ticker) ? unitedStates : undefined
}

/** Opens EODHD, whose prices are at least 15 minutes late. Undefined without the operator's key. */
export function openEodhd(deps: ProviderDeps): StockSources | undefined {
  const key = deps.upstreams.EODHD?.apiKey
  if (key === undefined) return undefined
  const publicBase = 'https://eodhd.com/api'
  const upstream = openUpstreamOf(deps, 'EODHD', { name: 'eodhd', publicBase, pace: pacePublic, timeoutMs: 3_000 })
  const provider = { ...ofUpstream(upstream), covers: (query: StockQuery) => exchangeOf(query) !== undefined }
  const reading = (query: StockQuery) => ({ ...listingOf(query), nowMs: deps.clock.nowMs() })
  const common = { api_token: key, fmt: 'json' }
  return {
    prices: {
      ...provider,
      async ask(query) {
        const asked = { path: `/real-time/${listingOf(query).symbol}`, query: common }
        return upstream.ask(asked, (reply) => readPrice(reply, query, reading(query)))
      },
    },
    histories: {
      ...provider,
      async ask(query) {
        const from = isoTime(deps.clock.nowMs() - daysOf[query.range] * dayMs).slice(0, 10)
        const fields = { function: 'splitadjusted', from, ...common }
        const asked = { path: `/technical/${listingOf(query).symbol}`, query: fields }
        return upstream.ask(asked, (reply) => readDays(reply, query, reading(query)))
      },
    },
  }
}

function listingOf(query: StockQuery): { readonly symbol: string; readonly exchange: EodhdExchange } {
  const exchange = exchangeOf(query)
  if (exchange === undefined) throw new UpstreamFailure('not_covered', 'no code for this exchange')
  return { symbol: `${withClass(query.ticker, '-')}.${exchange.code}`, exchange }
}

// A figure of an answer. EODHD writes the text NA for a missing figure.
const figure = z.union([z.number(), z.literal('NA').transform(() => undefined)]).nullish()
const unsold = figure.catch(undefined)
const quote = z.object({
  code: z.string(),
  timestamp: figure,
  open: unsold,
  high: unsold,
  low: unsold,
  close: figure,
  volume: figure,
  previousClose: figure,
  change_p: figure,
})

interface Listing {
  readonly symbol: string
  readonly exchange: EodhdExchange
  readonly nowMs: number
}

function readPrice(reply: Reply, query: StockQuery, { symbol, exchange, nowMs }: Listing): Observation<StockPrice> {
  refuseEodhdError(reply)
  const found = readJson(reply, quote)
  if (!isSameSymbol(found.code, symbol)) throw new UpstreamFailure('bad_payload', 'another symbol was answered')
  // Refuse an answer without figures, which EODHD sends with status 200 for an unknown symbol.
  if (found.close === undefined && found.previousClose === undefined)
    throw new UpstreamFailure('not_found', 'no figure of this symbol')
  return stockObservation(query, {
    price: found.close,
    previousClose: found.previousClose,
    volume: found.volume,
    open: found.open,
    high: found.high,
    low: found.low,
    changePercent: found.change_p,
    asOfMs: (found.timestamp ?? 0) * 1000,
    currency: exchange.currency,
    delayedByMinutes,
    openSinceMs: exchange === unitedStates ? usSessionSinceMs(nowMs) : undefined,
    nowMs,
  })
}

const dayMs = 24 * 60 * 60_000
/** Calendar days to request for each range. Ten calendar days usually contain five trading days. */
const daysOf: Readonly<Record<StockRange, number>> = { '5d': 10, '1mo': 31, '6mo': 183, '1y': 366 }
const shortRows = 5
const day = z.object({
  date: z.iso.date(),
  open: z.number(),
  high: z.number(),
  low: z.number(),
  close: z.number(),
  volume: z.number(),
})
const series = z.array(day).max(400)

/**
 * Reads a history. Its bars are adjusted for splits but not for dividends. EODHD's end-of-day endpoint is not used,
 * because its prices are unadjusted.
 */
function readDays(reply: Reply, query: StockHistoryQuery, { exchange, nowMs }: Listing): Observation<PriceHistory> {
  refuseEodhdError(reply)
  const { timeZone } = exchange
  const { currency, inWhole } = wholeUnitOf(exchange.currency)
  const rows = readJson(reply, series).slice(query.range === '5d' ? -shortRows : 0)
  const bars = rows.map(({ date, open, high, low, close, volume }) => ({
    startMs: midnightMsOf(date, timeZone),
    open: inWhole(open),
    high: inWhole(high),
    low: inWhole(low),
    close: inWhole(close),
    volume,
  }))
  const history = { bars, intervalMs: dayMs, currency, facts: { adjusted: 'splits' } }
  return stockHistoryObservation(history, query, { nowMs, timeZone })
}

const errorBody = z.object({ error: z.string() })

/**
 * Throws for an error. Status 402 means a used-up quota, and 403 a refused key or a plan without this data. A text with
 * status 404 means an unknown symbol.
 */
function refuseEodhdError(reply: Reply): void {
  const { status, text } = reply
  if (status === 402 || status === 403) throw new UpstreamFailure('auth', `key, plan or quota: HTTP ${status}`)
  if (status === 404 && /not found/i.test(text) && !/<html/i.test(text))
    throw new UpstreamFailure('not_found', 'unknown symbol')
  refuseStatus(reply, 'bad_payload')
  if (errorBody.safeParse(parseJson(reply)).success) throw new UpstreamFailure('bad_payload', 'an error in the body')
}

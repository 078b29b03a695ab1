import { z } from 'zod'
import type { Reply } from '../../../sourcing/upstreamRequest.ts'
import type { Upstream } from '../../../sourcing/upstream.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import {
  decimalOf,
  errorIn,
  type Observation,
  ofUpstream,
  openNamed,
  type ProviderDeps,
  readJson,
  refuseStatus,
} from '../../../sourcing/provider.ts'
import { stockObservation, type StockPrice, type StockProvider, type StockQuery } from './stockPrice.ts'
import { isSameSymbol, withClass } from './ticker.ts'
import { usSessionSinceMs } from './usSession.ts'

// The Basic plan allows 8 credits a minute and 800 a day; a quote costs one.
const pacePublic = { requests: 8, perSeconds: 60 }
const minutePauseMs = 60_000

/** Exchanges by their market identifier code (ISO 10383). Other exchanges are not asked for. */
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

/** One limit for prices and histories. */
export function openTwelveData(deps: ProviderDeps): Upstream {
  const publicBase = 'https://api.twelvedata.com'
  return openNamed(deps, 'TWELVE_DATA', { name: 'twelvedata', publicBase, pace: pacePublic, timeoutMs: 3_000 })
}

export function hasTwelveDataCode({ ticker: { exchangeSuffix } }: StockQuery): boolean {
  return exchangeSuffix === undefined || micOfSuffix.has(exchangeSuffix)
}

/** Only with the operator's key; without one this provider is left out. */
export function createTwelveData(
  deps: ProviderDeps,
  key: string,
  upstream: Upstream = openTwelveData(deps),
): StockProvider {
  return {
    ...ofUpstream(upstream),
    isMetered: true,
    covers: hasTwelveDataCode,
    async ask(query) {
      const mic = twelveDataMic(query)
      return upstream.ask({ path: '/quote', query: twelveDataFields(query, key) }, (reply) =>
        read({ reply, query, mic, nowMs: deps.clock.nowMs() }),
      )
    },
  }
}

/** The API takes the key in the query. Our logs and errors contain no addresses. */
export function twelveDataFields(query: StockQuery, key: string): Readonly<Record<string, string>> {
  const mic = twelveDataMic(query)
  const place = mic === undefined ? undefined : { mic_code: mic }
  return { symbol: withClass(query.ticker, '.'), ...place, apikey: key }
}

/**
 * ISO 10383 code of the exchange; undefined for listings in the United
 * States. Throws `not_covered` for an unlisted suffix.
 */
export function twelveDataMic({ ticker: { exchangeSuffix } }: StockQuery): string | undefined {
  if (exchangeSuffix === undefined) return undefined
  const mic = micOfSuffix.get(exchangeSuffix)
  if (mic === undefined) throw new UpstreamFailure('not_covered', 'no code for this exchange')
  return mic
}

interface Reading {
  readonly reply: Reply
  readonly query: StockQuery
  readonly mic: string | undefined
  readonly nowMs: number
}

// No exchange of the list is open for as long, so a price of this age is of an earlier day.
const sessionMsMax = 10 * 60 * 60_000

function read({ reply, query, mic, nowMs }: Reading): Observation<StockPrice> {
  refuseTwelveDataError(reply)
  const found = readJson(reply, quote)
  if (!isSameSymbol(found.symbol, withClass(query.ticker, '.')))
    throw new UpstreamFailure('bad_payload', 'another symbol was answered')
  if (mic !== undefined && found.mic_code !== mic) throw new UpstreamFailure('not_covered', 'another exchange answered')
  return stockObservation(query, {
    price: decimalOf(found.close),
    previousClose: decimalOf(found.previous_close),
    volume: decimalOf(found.volume),
    open: decimalOf(found.open),
    high: decimalOf(found.high),
    low: decimalOf(found.low),
    changePercent: decimalOf(found.percent_change),
    // `timestamp` is the opening of the day's bar, hours before the price.
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

function openSinceMs(mic: string | undefined, nowMs: number): number {
  return (mic === undefined ? usSessionSinceMs(nowMs) : undefined) ?? nowMs - sessionMsMax
}

const errorBody = z.object({ status: z.literal('error'), code: z.number(), message: z.string() })

/** Errors come as a body, usually under 200. */
export function refuseTwelveDataError(reply: Reply): void {
  const error = errorIn(reply, errorBody)
  if (error === undefined) return refuseStatus(reply, 'bad_payload')
  const { code, message } = error
  if (code === 429) throw new UpstreamFailure('rate_limited', 'credits are used up', { retryAfterMs: minutePauseMs })
  if (code === 401) throw new UpstreamFailure('auth', 'the key is not accepted')
  // The same code stands for unknown symbols and for symbols of another plan.
  if (/\bplan\b|available starting with|upgrade/i.test(message))
    throw new UpstreamFailure('incomplete', 'the symbol exists and belongs to another plan')
  if (code === 403) throw new UpstreamFailure('auth', 'not for this key')
  if (code === 404 || (code === 400 && /symbol/i.test(message)))
    throw new UpstreamFailure('not_found', 'unknown symbol')
  throw new UpstreamFailure(code >= 500 ? 'upstream' : 'bad_payload', `error ${code} in the body`)
}

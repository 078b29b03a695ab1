import { z } from 'zod'
import type { Reply } from '../../../outbound/upstreamRequest.ts'
import type { Upstream } from '../../../outbound/upstream.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { isAsked } from '../../../product/providerTerms.ts'
import type { Observation, ProviderDeps } from '../../../sourcing/provider.ts'
import { ofUpstream, openUpstreamOf } from '../../../outbound/publicUpstream.ts'
import { parseJson, refuseAccess, refuseStatus } from '../../../outbound/upstreamReply.ts'
import type { StockSources } from './stockHistory.ts'
import { type MarketState, stockObservation, type StockPrice, type StockQuery } from './stockPrice.ts'
import { isSameSymbol, type Ticker, withClass } from './ticker.ts'
import { readYahooDays, yahooDays } from './yahooHistory.ts'

// User agent of a browser, because Yahoo answers other agents with an error, as of 2026. Other providers receive the
// service's own name and the operator's contact.
const browserAgent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36'
// Yahoo does not publish its limit, and throttles the addresses of data centres early.
const pacePublic = { requests: 20, perSeconds: 60 }

const number = z.number().nullish()
// A figure for checks and `details`, which may be absent. Ignore unreadable values.
const unsold = z.number().nullish().catch(undefined)
const text = z.string().max(500).nullish()
const period = z.object({ start: z.number(), end: z.number() }).nullish()
const meta = z.object({
  currency: text,
  symbol: z.string(),
  exchangeName: text,
  fullExchangeName: text,
  instrumentType: text,
  regularMarketTime: number,
  regularMarketPrice: number,
  regularMarketVolume: number,
  regularMarketDayHigh: unsold,
  regularMarketDayLow: unsold,
  longName: text,
  shortName: text,
  previousClose: number,
  chartPreviousClose: number,
  range: text,
  currentTradingPeriod: z.object({ pre: period, regular: period, post: period }).nullish(),
})
type ChartMeta = z.infer<typeof meta>
/** The bars of the range. If the range is one day, the last bar is today's bar. */
const bars = z
  .object({ quote: z.array(z.object({ open: z.array(unsold).nullish().catch(undefined) })).max(10) })
  .nullish()
  .catch(undefined)
const problem = z.object({ code: z.string(), description: z.string().nullish() }).nullish()
const result = z.object({ meta, indicators: bars })
const answerOf = <T extends z.ZodType>(one: T) =>
  z.object({
    chart: z.object({ result: z.array(one).max(10).nullish(), error: problem }).optional(),
    finance: z.object({ error: problem }).optional(),
  })

/**
 * Opens Yahoo. Uses the chart, because this call needs no cookie and no crumb. Undefined if the operator has configured
 * other providers instead.
 */
export function openYahoo(deps: ProviderDeps): StockSources | undefined {
  const { clock, upstreams } = deps
  if (!isAsked('YAHOO', upstreams)) return undefined
  const upstream = openUpstreamOf(deps, 'YAHOO', {
    name: 'yahoo',
    publicBase: 'https://query2.finance.yahoo.com',
    pace: pacePublic,
    timeoutMs: 3_000,
    headers: { 'user-agent': browserAgent },
  })
  return {
    prices: {
      ...ofUpstream(upstream),
      ask: (query) =>
        askYahooChart(upstream, query.ticker, {
          // The range must be one day, because `chartPreviousClose` is the close before the range, and thus the
          // previous day's close.
          fields: { interval: '1d', range: '1d' },
          shape: result,
          read: (chart) => read(chart, query, clock.nowMs()),
        }),
    },
    histories: {
      ...ofUpstream(upstream),
      ask: (query) =>
        askYahooChart(upstream, query.ticker, {
          fields: { interval: '1d', range: query.range, events: 'split' },
          shape: yahooDays,
          read: (days) => readYahooDays(days, query, clock.nowMs()),
        }),
    },
  }
}

interface ChartRequest<Shape extends z.ZodType, T> {
  readonly fields: Readonly<Record<string, string>>
  readonly shape: Shape
  readonly read: (chart: z.infer<Shape>) => T
}

/** Requests a chart. Throws if the answer is the chart of another symbol. */
function askYahooChart<Shape extends z.ZodType<{ readonly meta: { readonly symbol: string } }>, T>(
  upstream: Upstream,
  ticker: Ticker,
  { fields, shape, read: readChart }: ChartRequest<Shape, T>,
): Promise<T> {
  const symbol = yahooSpelling(ticker)
  return upstream.ask({ path: `/v8/finance/chart/${encodeURIComponent(symbol)}`, query: fields }, (reply) => {
    const chart = readYahooChart(reply, shape)
    if (!isSameSymbol(chart.meta.symbol, symbol))
      throw new UpstreamFailure('bad_payload', 'another symbol was answered')
    return readChart(chart)
  })
}

/**
 * Returns the symbol at Yahoo, which has a hyphen before a class of shares (BRK-B), and a dot before an exchange
 * (SAP.DE).
 */
function yahooSpelling(ticker: Ticker): string {
  const { root, exchangeSuffix } = ticker
  return exchangeSuffix === undefined ? withClass(ticker, '-') : `${root}.${exchangeSuffix}`
}

const stockTypes = new Set(['EQUITY', 'ETF', 'MUTUALFUND'])

function read(
  { meta: found, indicators }: z.infer<typeof result>,
  query: StockQuery,
  nowMs: number,
): Observation<StockPrice> {
  // Check the type, because Yahoo also lists currencies, futures and coins. Delisted symbols have an empty answer of
  // another type.
  const { instrumentType } = found
  if (instrumentType !== null && instrumentType !== undefined && !stockTypes.has(instrumentType))
    throw new UpstreamFailure('not_found', `it is not a stock: ${instrumentType}`)
  const marketState = marketStateOf(found, nowMs / 1000)
  const opened = found.currentTradingPeriod?.regular
  return stockObservation(query, {
    price: found.regularMarketPrice,
    previousClose: previousCloseOf(found),
    volume: found.regularMarketVolume,
    isFund: instrumentType === 'MUTUALFUND',
    open: indicators?.quote[0]?.open?.at(-1),
    high: found.regularMarketDayHigh,
    low: found.regularMarketDayLow,
    asOfMs: (found.regularMarketTime ?? 0) * 1000,
    currency: found.currency,
    name: found.longName ?? found.shortName,
    exchange: found.fullExchangeName ?? found.exchangeName,
    marketState,
    openSinceMs: marketState === 'REGULAR' && opened ? opened.start * 1000 : undefined,
    nowMs,
  })
}

/** Reads a chart. Throws for an error, which Yahoo reports in the body. */
function readYahooChart<T extends z.ZodType>(reply: Reply, one: T): z.infer<T> {
  refuseAccess(reply)
  if (/^\s*(edge: )?too many requests/i.test(reply.text)) throw new UpstreamFailure('rate_limited', 'as text')
  const parsed = answerOf(one).safeParse(parseJson(reply))
  if (!parsed.success) throw new UpstreamFailure('bad_payload', 'not the shape of a chart')
  const { chart, finance } = parsed.data
  refuseProblem(chart?.error ?? finance?.error)
  refuseStatus(reply, 'bad_payload')
  const results = chart?.result
  if (results === undefined || results === null)
    throw new UpstreamFailure('bad_payload', 'neither a result nor an error')
  const [first] = results
  if (first === undefined) throw new UpstreamFailure('not_found', 'no result')
  return first
}

function refuseProblem(given: z.infer<typeof problem>): void {
  if (given === undefined || given === null) return
  const { code, description } = given
  if (code === 'Not Found' || /no data found|data doesn't exist/i.test(description ?? ''))
    throw new UpstreamFailure('not_found', 'no data found')
  if (code === 'Unauthorized') throw new UpstreamFailure('auth', 'wants a crumb')
  if (/too many requests/i.test(code)) throw new UpstreamFailure('rate_limited', 'in the body')
  throw new UpstreamFailure('bad_payload', 'an error in the body')
}

/** Returns the previous day's close. `chartPreviousClose` is this close only if the range is one day. */
function previousCloseOf({ previousClose, chartPreviousClose, range }: ChartMeta): number | null | undefined {
  return previousClose ?? (range === '1d' ? chartPreviousClose : undefined)
}

/** Derives the state from the hours of the current trading day, because the answer does not contain it. */
function marketStateOf({ currentTradingPeriod: hours }: ChartMeta, nowSeconds: number): MarketState | undefined {
  if (hours?.regular === undefined || hours.regular === null) return undefined
  const isIn = (span: z.infer<typeof period>) =>
    span !== undefined && span !== null && nowSeconds >= span.start && nowSeconds < span.end
  if (isIn(hours.regular)) return 'REGULAR'
  if (isIn(hours.pre)) return 'PRE'
  return isIn(hours.post) ? 'POST' : 'CLOSED'
}

import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import type { Reply } from '../../../sourcing/upstreamRequest.ts'
import type { Upstream } from '../../../sourcing/upstream.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { baseUrlOf } from '../../../product/upstreamName.ts'
import { browserAgent } from '../../../sourcing/browserAgent.ts'
import {
  decimalOf,
  type Observation,
  paceOf,
  type ProviderDeps,
  readJson,
  refuseStatus,
} from '../../../sourcing/provider.ts'
import {
  type MarketState,
  stockObservation,
  type StockPrice,
  type StockProvider,
  type StockQuery,
} from './stockPrice.ts'
import { isOfUnitedStates, isSameSymbol, type Ticker, withClass } from './ticker.ts'
import { usSessionSinceMs } from './usSession.ts'
import { epochMsOf } from '../../../sourcing/zonedTime.ts'

const pacePublic = { requests: 10, perSeconds: 60 }
const symbolUnknown = 1_001

const text = z.string().max(500).nullish()
const print = z.object({
  lastSalePrice: text,
  netChange: text,
  percentageChange: text,
  currency: text,
  lastTradeTimestamp: text,
  isRealTime: z.boolean().nullish(),
  volume: text,
})
type Print = z.infer<typeof print>
export const nasdaqStatus = z.object({
  rCode: z.number(),
  bCodeMessage: z.array(z.object({ code: z.number() })).nullish(),
})
const answer = z.object({
  data: z
    .object({
      symbol: z.string(),
      companyName: text,
      exchange: text,
      primaryData: print.nullish(),
      secondaryData: print.nullish(),
      marketStatus: text,
    })
    .nullish(),
  status: nasdaqStatus,
})
type NasdaqQuote = NonNullable<z.infer<typeof answer>['data']>

/** One limit for prices and histories. */
export function openNasdaq(deps: ProviderDeps): Upstream {
  const setting = deps.upstreams.NASDAQ
  return deps.openUpstream({
    name: 'nasdaq',
    base: baseUrlOf(setting, 'https://api.nasdaq.com'),
    pace: paceOf(setting, pacePublic),
    timeoutMs: 2_000,
    headers: { 'user-agent': browserAgent },
  })
}

/** A listing in the United States as nasdaq.com shows it. */
export function createNasdaq(deps: ProviderDeps, upstream: Upstream = openNasdaq(deps)): StockProvider {
  return {
    name: 'nasdaq',
    pace: upstream.pace,
    whyUnavailable: () => upstream.whyResting(),
    covers: ({ ticker }) => isOfUnitedStates(ticker),
    ask: (query) =>
      askNasdaq(upstream, query.ticker, { what: 'info', fields: {}, read: (reply) => read(reply, query, deps.clock) }),
  }
}

interface NasdaqRequest<T> {
  readonly what: 'info' | 'historical'
  readonly fields: Readonly<Record<string, string>>
  readonly read: (reply: Reply) => T
}

/** Funds are a separate asset class. */
export async function askNasdaq<T>(
  upstream: Upstream,
  ticker: Ticker,
  { what, fields, read: readReply }: NasdaqRequest<T>,
): Promise<T> {
  if (!isOfUnitedStates(ticker)) throw new UpstreamFailure('not_covered', 'only the United States')
  const ask = (assetclass: 'stocks' | 'etf') =>
    upstream.ask({ path: `/api/quote/${withClass(ticker, '.')}/${what}`, query: { assetclass, ...fields } }, readReply)
  try {
    return await ask('stocks')
  } catch (error) {
    if (!(error instanceof UpstreamFailure && error.kind === 'not_found')) throw error
    return ask('etf')
  }
}

function read(reply: Reply, query: StockQuery, clock: Clock): Observation<StockPrice> {
  refuseStatus(reply, 'bad_payload')
  const { data, status } = readJson(reply, answer)
  if (data === undefined || data === null) throw nasdaqFailure(status)
  if (!isSameSymbol(data.symbol, withClass(query.ticker, '.')))
    throw new UpstreamFailure('bad_payload', 'another symbol was answered')
  const regular = regularOf(data)
  const price = dollarsOf(regular.lastSalePrice)
  const change = changeOf(regular.netChange)
  const marketState = marketStates.get(data.marketStatus?.toLowerCase() ?? '')
  return stockObservation(query, {
    price,
    previousClose: price === undefined || change === undefined ? undefined : price - change,
    volume: volumeOf(data, regular),
    changePercent: changeOf(regular.percentageChange?.replace('%', '')),
    // A date without a time is that day's close, unless the day is not over.
    asOfMs: earlier(asOfMsOf(regular.lastTradeTimestamp), clock.nowMs()),
    // Null means dollars: every listing here is of the United States.
    currency: regular.currency ?? 'USD',
    name: data.companyName,
    exchange: data.exchange,
    marketState,
    openSinceMs: marketState === 'REGULAR' ? usSessionSinceMs(clock.nowMs()) : undefined,
    nowMs: clock.nowMs(),
    ...(regular.isRealTime === true ? { delayedByMinutes: 0 } : {}),
  })
}

/** Every answer comes under 200. */
export function nasdaqFailure({ bCodeMessage }: z.infer<typeof nasdaqStatus>): UpstreamFailure {
  return bCodeMessage?.some(({ code }) => code === symbolUnknown) === true
    ? new UpstreamFailure('not_found', 'the symbol does not exist')
    : new UpstreamFailure('bad_payload', 'no data and no reason')
}

const marketStates: ReadonlyMap<string, MarketState> = new Map([
  ['pre-market', 'PRE'],
  ['open', 'REGULAR'],
  ['after-hours', 'POST'],
  ['closed', 'CLOSED'],
])

/** Outside regular hours the first record is a trade of those hours and the second the regular close. */
function regularOf({ primaryData, secondaryData }: NasdaqQuote): Print {
  const regular = secondaryData ?? primaryData
  if (regular === undefined || regular === null) throw new UpstreamFailure('incomplete', 'there is no trade')
  return regular
}

/** Before the opening the first record's volume is that of early trading, not of the day. */
function volumeOf({ primaryData, secondaryData, marketStatus }: NasdaqQuote, regular: Print): number | undefined {
  const own = decimalOf(regular.volume?.replaceAll(',', ''))
  if (own !== undefined || secondaryData === undefined || secondaryData === null) return own
  return marketStatus?.toLowerCase() === 'pre-market' ? undefined : decimalOf(primaryData?.volume?.replaceAll(',', ''))
}

/** `$1,234.56`. */
export function dollarsOf(price: string | null | undefined): number | undefined {
  return decimalOf(price?.replace('$', '').replaceAll(',', ''))
}

function changeOf(change: string | null | undefined): number | undefined {
  return change === 'UNCH' ? 0 : decimalOf(change?.replace('$', '').replaceAll(',', ''))
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const closingHour = 16

/** `Nov 19, 2026` or `Nov 19, 2026 9:31 AM ET`, with or without words before it. */
function asOfMsOf(said: string | null | undefined): number | undefined {
  const pattern = /\b([A-Z]{3})[A-Z]* (\d{1,2}), (\d{4})(?: (\d{1,2}):(\d{2})(?::\d{2})? ?(AM|PM))?/i
  const [, name = '', day, year, hour, minute, half] = pattern.exec(said ?? '') ?? []
  const month = months.indexOf(name.toLowerCase()) + 1
  if (month === 0) return undefined
  const at =
    hour === undefined
      ? { hour: closingHour, minute: 0 }
      : { hour: (Number(hour) % 12) + (half?.toUpperCase() === 'PM' ? 12 : 0), minute: Number(minute) }
  return epochMsOf({ year: Number(year), month, day: Number(day), ...at, second: 0 }, 'America/New_York')
}

function earlier(a: number | undefined, b: number): number | undefined {
  return a === undefined ? undefined : Math.min(a, b)
}

import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { checkBars, endMsOf } from '../../../sourcing/history/bars.ts'
import { dayFigures } from '../../../sourcing/history/historyAgreement.ts'
import type { PriceHistory } from '../../../sourcing/history/priceHistory.ts'
import type { Observation, Provider } from '../../../sourcing/provider.ts'
import type { StockProvider, StockQuery } from './stockPrice.ts'
import { epochMsOf } from '../../../sourcing/zonedTime.ts'

export const stockRanges = ['5d', '1mo', '6mo', '1y'] as const
export type StockRange = (typeof stockRanges)[number]

/** A listing and a range. The history is asked for after its price is known. */
export interface StockHistoryQuery extends StockQuery {
  readonly range: StockRange
  /** The price on which sources agree, and its currency: the history must end near it. Undefined for a probe. */
  readonly price: number | undefined
  readonly currency: string | undefined
}

export type StockHistoryProvider = Provider<StockHistoryQuery, PriceHistory>

/** One provider of prices and histories, with one limit for both. */
export interface StockSources {
  readonly prices: StockProvider
  readonly histories: StockHistoryProvider
}

const dayMs = 24 * 60 * 60_000
// Five days of trading are in two weeks with holidays. The longer ranges are of the calendar.
const daysMaxOf: Readonly<Record<StockRange, number>> = { '5d': 14, '1mo': 40, '6mo': 195, '1y': 380 }
// The last trade may precede a long weekend.
const ageMaxMs = 5 * dayMs
// The last close is that of the price, or of the day before it.
const percentMax = 12

interface ExchangeTime {
  readonly nowMs: number
  /** Time zone of the exchange, so that days of several providers correspond. */
  readonly timeZone: string
}

/** Throws `UpstreamFailure` for another currency than the price's, or for bars that break the rule. */
export function stockHistoryObservation(
  history: PriceHistory,
  { price, currency, range }: StockHistoryQuery,
  { nowMs, timeZone }: ExchangeTime,
): Observation<PriceHistory> {
  if (currency !== undefined && history.currency !== currency)
    throw new UpstreamFailure('incomplete', 'the history is in another currency than the price')
  const { bars, intervalMs } = history
  const rule = { price, percentMax, nowMs, sinceMs: nowMs - daysMaxOf[range] * dayMs, ageMaxMs, intervalMs }
  checkBars(bars, rule)
  return { data: history, figures: dayFigures(bars, timeZone), asOfMs: endMsOf(bars, rule) }
}

/** Midnight at the exchange. `date` is ISO 8601. */
export function midnightMsOf(date: string, timeZone: string): number {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number)
  return epochMsOf({ year, month, day, hour: 0, minute: 0, second: 0 }, timeZone)
}

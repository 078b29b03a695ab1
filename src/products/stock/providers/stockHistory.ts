import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { checkBars, endMsOf } from '../../../sourcing/history/bars.ts'
import { dayFigures } from '../../../sourcing/history/historyAgreement.ts'
import type { PriceHistory } from '../../../sourcing/history/priceHistory.ts'
import type { Observation, Provider } from '../../../sourcing/provider.ts'
import type { StockProvider, StockQuery } from './stockPrice.ts'
import { epochMsOf } from '../../../sourcing/zonedTime.ts'

export const stockRanges = ['5d', '1mo', '6mo', '1y'] as const
export type StockRange = (typeof stockRanges)[number]

/** A listing and a range. The history is requested after the price is known, and is checked against that price. */
export interface StockHistoryQuery extends StockQuery {
  readonly range: StockRange
  /**
   * The price on which the sources agree, and its currency. The history must end near this price. Undefined for a
   * probe, which skips the check.
   */
  readonly price: number | undefined
  readonly currency: string | undefined
}

export type StockHistoryProvider = Provider<StockHistoryQuery, PriceHistory>

/** Both sources of a provider share one request limit. */
export interface StockSources {
  readonly prices: StockProvider
  readonly histories: StockHistoryProvider
}

const dayMs = 24 * 60 * 60_000
// Maximum age of a bar in calendar days, for each range. Two weeks contain five trading days even with holidays.
const daysMaxOf: Readonly<Record<StockRange, number>> = { '5d': 14, '1mo': 40, '6mo': 195, '1y': 380 }
// Maximum age of the last bar. The bar may be from before a long weekend.
const ageMaxMs = 5 * dayMs
// Maximum distance of the last close from the price, in per cent. The distance is wide because the close may be that of
// the previous day.
const percentMax = 12

interface ExchangeTime {
  readonly nowMs: number
  /** Time zone of the exchange. Days are compared in this zone, so that the days of all providers match. */
  readonly timeZone: string
}

/**
 * Checks a history. Throws `UpstreamFailure` if the currency differs from that of the price, or if the bars break the
 * rule.
 */
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

/** Returns midnight at the exchange, in milliseconds since 1970. `date` is an ISO 8601 date. */
export function midnightMsOf(date: string, timeZone: string): number {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number)
  return epochMsOf({ year, month, day, hour: 0, minute: 0, second: 0 }, timeZone)
}

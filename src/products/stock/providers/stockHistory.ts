import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { checkBars, endMsOf } from '../../../sourcing/history/bars.ts'
import { dayFigures } from '../../../sourcing/history/historyAgreement.ts'
import type { PriceHistory } from '../../../sourcing/history/priceHistory.ts'
import type { Observation, Provider } from '../../../sourcing/provider.ts'
import type { StockProvider, StockQuery } from './stockPrice.ts'
import { epochMsOf } from '../../../sourcing/zonedTime.ts'

export const stockRanges = ['5d', '1mo', '6mo', '1y'] as const
export type StockRange = (typeof stockRanges)[number]

/** A listing and a range. The history is requested after the price is known. */
export interface StockHistoryQuery extends StockQuery {
  readonly range: StockRange
  /** The price on which sources agree, with its currency. The history must end near the price. Undefined for a probe. */
  readonly price: number | undefined
  readonly currency: string | undefined
}

export type StockHistoryProvider = Provider<StockHistoryQuery, PriceHistory>

/** Prices and histories of one provider, which share one limit. */
export interface StockSources {
  readonly prices: StockProvider
  readonly histories: StockHistoryProvider
}

const dayMs = 24 * 60 * 60_000
// Calendar days of each range. Five trading days fit into two weeks with holidays.
const daysMaxOf: Readonly<Record<StockRange, number>> = { '5d': 14, '1mo': 40, '6mo': 195, '1y': 380 }
// The last trade may be from before a long weekend.
const ageMaxMs = 5 * dayMs
// Largest distance in per cent of the last close from the price. The close may be that of the day before.
const percentMax = 12

interface ExchangeTime {
  readonly nowMs: number
  /** Time zone of the exchange, so that the days of all providers match. */
  readonly timeZone: string
}

/** Throws `UpstreamFailure` if the currency differs from that of the price, or if bars break the rule. */
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

/** Returns midnight at the exchange. `date` is ISO 8601. */
export function midnightMsOf(date: string, timeZone: string): number {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number)
  return epochMsOf({ year, month, day, hour: 0, minute: 0, second: 0 }, timeZone)
}

import { UpstreamFailure } from '../../outbound/upstreamFailure.ts'
import { checkBars, endMsOf } from '../history/bars.ts'
import type { PriceHistory } from '../history/priceHistory.ts'
import type { Observation, Provider } from './provider.ts'
import type { StockQuery } from './stockPrice.ts'

export const stockRanges = ['5d', '1mo', '6mo', '1y'] as const
export type StockRange = (typeof stockRanges)[number]

export interface StockHistoryQuery extends StockQuery {
  readonly range: StockRange
  /** The price on which sources agree, and its currency: the history must end near it. Undefined for a probe. */
  readonly price: number | undefined
  readonly currency: string | undefined
}

export type StockHistoryProvider = Provider<StockHistoryQuery, PriceHistory>

// The last trade may precede a long weekend.
const ageMaxMs = 5 * 24 * 60 * 60_000
// The last close is that of the price, or of the day before it.
const percentMax = 12

export function stockHistoryObservation(
  history: PriceHistory,
  { price, currency }: StockHistoryQuery,
  nowMs: number,
): Observation<PriceHistory> {
  if (currency !== undefined && history.currency !== currency)
    throw new UpstreamFailure('incomplete', 'the history is in another currency than the price')
  const { bars, intervalMs } = history
  const rule = { price, percentMax, nowMs, ageMaxMs, intervalMs }
  checkBars(bars, rule)
  return { data: history, asOfMs: endMsOf(bars, rule) }
}

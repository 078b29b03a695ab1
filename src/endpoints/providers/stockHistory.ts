import type { PriceHistory } from '../history/priceHistory.ts'
import type { Provider } from './provider.ts'
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

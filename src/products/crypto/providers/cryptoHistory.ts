import { type Bar, type BarRule, checkBars, endMsOf } from '../../../sourcing/history/bars.ts'
import { gridFigures } from '../../../sourcing/history/historyAgreement.ts'
import type { PriceHistory } from '../../../sourcing/history/priceHistory.ts'
import type { CryptoQuery } from './cryptoPrice.ts'
import type { Observation, Provider } from '../../../sourcing/provider.ts'

export const historyRanges = ['1d', '7d', '30d'] as const
export type HistoryRange = (typeof historyRanges)[number]

/** A coin and a range. The history is requested after the price is known, and is checked against that price. */
export interface CryptoHistoryQuery extends CryptoQuery {
  readonly range: HistoryRange
  /** CoinGecko's id of the coin whose price was sold. For a coin outside our list, undefined until the price is sold. */
  readonly coinGeckoId: string | undefined
  /**
   * The price on which the sources agree, in US dollars. The history must end near this price. Undefined for a probe,
   * which skips the check.
   */
  readonly price: number | undefined
}

export type CryptoHistoryProvider = Provider<CryptoHistoryQuery, PriceHistory>

const hour = 60 * 60_000
const day = 24 * hour

/** Kraken's bars: one hour long for ranges up to a week, one day long for a month. */
export const cryptoRanges: Readonly<Record<HistoryRange, { readonly intervalMs: number; readonly spanMs: number }>> = {
  '1d': { intervalMs: hour, spanMs: day },
  '7d': { intervalMs: hour, spanMs: 7 * day },
  '30d': { intervalMs: day, spanMs: 30 * day },
}

// Length of the cells in which two histories are compared. CoinGecko's longer bars cover four hours.
const cellMsOf: Readonly<Record<HistoryRange, number>> = { '1d': hour, '7d': 4 * hour, '30d': day }

/**
 * Maximum distance of the last close from the agreed price, in per cent. A bar that is still running must be closer
 * than a bar that ended hours ago.
 */
export const historyPercentMax = { running: 3, ended: 12 } as const

/**
 * Checks the bars, and returns the history. Throws `UpstreamFailure` for bars that break the rule. The common grid
 * makes histories comparable.
 */
export function cryptoHistoryObservation(
  bars: readonly Bar[],
  { range, ...rule }: BarRule & Pick<CryptoHistoryQuery, 'range'>,
): Observation<PriceHistory> {
  const { intervalMs } = rule
  return {
    data: { bars: checkBars(bars, rule), intervalMs, currency: 'USD' },
    figures: gridFigures(bars, { intervalMs, cellMs: cellMsOf[range] }),
    asOfMs: endMsOf(bars, rule),
  }
}

/** Returns the history of an exchange, whose last bar is still running. */
export function exchangeHistory(
  bars: readonly Bar[],
  { range, price }: CryptoHistoryQuery,
  { sinceMs, nowMs }: { readonly sinceMs: number; readonly nowMs: number },
): Observation<PriceHistory> {
  const { intervalMs } = cryptoRanges[range]
  const rule = { range, price, nowMs, sinceMs, intervalMs, percentMax: historyPercentMax.running, ageMaxMs: intervalMs }
  return cryptoHistoryObservation(
    bars.filter(({ startMs }) => startMs >= sinceMs),
    rule,
  )
}

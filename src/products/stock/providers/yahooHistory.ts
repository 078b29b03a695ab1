import { z } from 'zod'
import { isoTime } from '@tollbook/core/clock'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { Bar } from '../../../sourcing/history/bars.ts'
import type { PriceHistory } from '../../../sourcing/history/priceHistory.ts'
import type { Observation } from '../../../sourcing/provider.ts'
import { stockHistoryObservation, type StockHistoryQuery } from './stockHistory.ts'
import { wholeUnitOf } from './stockPrice.ts'

const dayMs = 24 * 60 * 60_000

const column = z.array(z.number().nullable()).max(400)
const split = z.object({ date: z.number(), numerator: z.number().positive(), denominator: z.number().positive() })
export const yahooDays = z.object({
  meta: z.object({
    symbol: z.string(),
    currency: z.string(),
    dataGranularity: z.literal('1d'),
    exchangeTimezoneName: z.string(),
  }),
  timestamp: z.array(z.number()).max(400),
  events: z.object({ splits: z.record(z.string(), split).optional() }).optional(),
  indicators: z.object({
    quote: z.array(z.object({ open: column, high: column, low: column, close: column, volume: column })).length(1),
  }),
})
type Chart = z.infer<typeof yahooDays>

/** Reads a history. Its bars are adjusted for splits but not for dividends. Throws if a split is not adjusted yet. */
export function readYahooDays(found: Chart, query: StockHistoryQuery, nowMs: number): Observation<PriceHistory> {
  const { currency, inWhole } = wholeUnitOf(found.meta.currency)
  const splits = Object.values(found.events?.splits ?? {}).toSorted((one, other) => one.date - other.date)
  const bars = barsOf(found, inWhole)
  for (const one of splits) refuseUnadjusted(bars, one)
  const shown = splits.map(({ date, numerator, denominator }) => {
    return { date: isoTime(date * 1_000).slice(0, 10), ratio: `${numerator}:${denominator}` }
  })
  const facts = { adjusted: 'splits', splits: shown }
  const place = { nowMs, timeZone: found.meta.exchangeTimezoneName }
  return stockHistoryObservation({ bars, intervalMs: dayMs, currency, facts }, query, place)
}

/** Returns the bars. Days without trades have nulls and are skipped. */
function barsOf({ timestamp, indicators }: Chart, inWhole: (quoted: number) => number): readonly Bar[] {
  const [quote] = indicators.quote
  return timestamp.flatMap((seconds, row): Bar[] => {
    const at = (name: 'open' | 'high' | 'low' | 'close') => quote?.[name][row] ?? undefined
    const [open, high, low, close] = [at('open'), at('high'), at('low'), at('close')]
    if (open === undefined || high === undefined || low === undefined || close === undefined) return []
    const prices = { open: inWhole(open), high: inWhole(high), low: inWhole(low), close: inWhole(close) }
    return [{ startMs: seconds * 1_000, ...prices, volume: quote?.volume[row] ?? undefined }]
  })
}

// If the price changes by about the split ratio on the day of a split, the prices are not adjusted for it. The value is
// the tolerance of the ratio.
const splitSlack = 0.1

/**
 * Throws if the prices are not adjusted for a split. Yahoo adjusts earlier prices only some hours after a split. Until
 * then, the prices jump by the split ratio.
 */
function refuseUnadjusted(bars: readonly Bar[], { date, numerator, denominator }: z.infer<typeof split>): void {
  const at = bars.findIndex(({ startMs }) => startMs >= date * 1_000 - dayMs / 2)
  const [before, after] = [bars[at - 1], bars[at]]
  if (before === undefined || after === undefined) return
  const step = before.close / after.open / (numerator / denominator)
  if (numerator !== denominator && Math.abs(step - 1) < splitSlack)
    throw new UpstreamFailure('incomplete', 'the history is not adjusted for a split')
}

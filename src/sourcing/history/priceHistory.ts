import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import type { Outcome, Value } from '../../product/product.ts'
import type { ProductHandler } from '../../product/productDefinition.ts'
import type { AnswerSource, Found } from '../source.ts'
import type { Bar } from './bars.ts'

/** Bars from oldest to newest, with prices in `currency`. */
export interface PriceHistory {
  readonly bars: readonly Bar[]
  readonly intervalMs: number
  readonly currency: string
  readonly facts?: Readonly<Record<string, Json>>
}

// EODHD's year has 367 dates, today and the 366 days before. At most 263 of them are weekdays.
const barsMax = 263

export const shownHistory = z.object({
  intervalMinutes: z.number().meta({ description: 'length of a bar' }),
  currency: z.string(),
  bars: z
    .array(
      z.object({
        time: z.iso.datetime().meta({ description: 'begin of the bar' }),
        open: z.number(),
        high: z.number(),
        low: z.number(),
        close: z.number(),
        volume: z.number().optional(),
      }),
    )
    .max(barsMax)
    .meta({ description: 'oldest first; the last one may not have ended' }),
})

interface HistoryOptions<Order, Query> {
  readonly source: AnswerSource<Query, PriceHistory>
  /** Undefined if the order requests no history. `sold` is the agreed price, and is absent before the purchase. */
  readonly queryOf: (order: Order, sold?: SoldPrice) => Query | undefined
}

const soldPrice = z.looseObject({ price: z.number() })

export interface SoldPrice {
  readonly price: number
  readonly meta: Value['meta']
}

/** One payment covers price and history, so the whole order fails if the history cannot be delivered. */
export function withHistory<Order extends Json, Query>(
  handler: ProductHandler<Order>,
  { source, queryOf }: HistoryOptions<Order, Query>,
): ProductHandler<Order> {
  return {
    ...handler,
    probes: [...(handler.probes ?? []), source.liveness],
    whyUnavailable(order, buyer) {
      const query = order === undefined ? undefined : queryOf(order)
      return (
        handler.whyUnavailable(order, buyer) ?? (query === undefined ? undefined : source.whyUnavailable(query, buyer))
      )
    },
    async deliver(order, job): Promise<Outcome> {
      const outcome = await handler.deliver(order, job)
      if (outcome.kind !== 'delivered') return outcome
      const { price } = soldPrice.safeParse(outcome.data).data ?? {}
      const query = price === undefined ? undefined : queryOf(order, { price, meta: outcome.meta })
      if (query === undefined) return outcome
      const found = await source.ask(query, job.payer)
      return found.kind === 'failed' ? found : withShown(outcome, found)
    },
  }
}

function withShown({ data, meta }: Value, { data: history, meta: historyMeta }: Found<PriceHistory>): Value {
  const { bars, intervalMs, currency, facts = {} } = history
  const shown = {
    intervalMinutes: intervalMs / 60_000,
    currency,
    bars: bars.map(({ startMs, volume, open, high, low, close }) => {
      return { time: isoTime(startMs), open, high, low, close, ...(volume === undefined ? {} : { volume }) }
    }),
  }
  return {
    kind: 'delivered',
    data: { ...z.record(z.string(), z.json()).parse(data), history: shown },
    meta: { ...meta, history: { ...historyMeta, ...facts } },
  }
}

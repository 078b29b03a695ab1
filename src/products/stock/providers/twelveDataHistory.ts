import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import type { Upstream } from '../../../sourcing/upstream.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { decimalOf, ofUpstream, readJson } from '../../../sourcing/provider.ts'
import { midnightMsOf, stockHistoryObservation, type StockHistoryProvider, type StockRange } from './stockHistory.ts'
import { wholeUnitOf } from './stockPrice.ts'
import { isSameSymbol, withClass } from './ticker.ts'
import { hasTwelveDataCode, refuseTwelveDataError, twelveDataFields, twelveDataMic } from './twelveData.ts'

const dayMs = 24 * 60 * 60_000
/** Days of trading in each range. */
const rowsOf: Readonly<Record<StockRange, string>> = { '5d': '5', '1mo': '22', '6mo': '127', '1y': '252' }

const day = z.object({
  datetime: z.iso.date(),
  open: z.string(),
  high: z.string(),
  low: z.string(),
  close: z.string(),
  volume: z.string().optional(),
})
const series = z.object({
  meta: z.object({
    symbol: z.string(),
    interval: z.literal('1day'),
    currency: z.string(),
    exchange_timezone: z.string(),
    mic_code: z.string().optional(),
  }),
  values: z.array(day).max(300),
})

/** Bars of a day, adjusted for splits and not for dividends. Their time is midnight at the exchange. */
export function createTwelveDataHistory(upstream: Upstream, clock: Clock, key: string): StockHistoryProvider {
  return {
    ...ofUpstream(upstream),
    isMetered: true,
    covers: hasTwelveDataCode,
    async ask(query) {
      const options = { interval: '1day', outputsize: rowsOf[query.range], order: 'ASC', adjust: 'splits' }
      const fields = { ...twelveDataFields(query, key), ...options }
      return upstream.ask({ path: '/time_series', query: fields }, (reply) => {
        refuseTwelveDataError(reply)
        const { meta, values } = readJson(reply, series)
        if (!isSameSymbol(meta.symbol, withClass(query.ticker, '.')))
          throw new UpstreamFailure('bad_payload', 'another symbol was answered')
        const mic = twelveDataMic(query)
        if (mic !== undefined && meta.mic_code !== mic)
          throw new UpstreamFailure('not_covered', 'another exchange answered')
        const { currency, inWhole } = wholeUnitOf(meta.currency)
        const bars = values.map((row) => {
          const read = (text: string) => inWhole(decimalOf(text) ?? Number.NaN)
          return {
            startMs: midnightMsOf(row.datetime, meta.exchange_timezone),
            open: read(row.open),
            high: read(row.high),
            low: read(row.low),
            close: read(row.close),
            volume: decimalOf(row.volume),
          }
        })
        const facts = { adjusted: 'splits' }
        const place = { nowMs: clock.nowMs(), timeZone: meta.exchange_timezone }
        return stockHistoryObservation({ bars, intervalMs: dayMs, currency, facts }, query, place)
      })
    },
  }
}

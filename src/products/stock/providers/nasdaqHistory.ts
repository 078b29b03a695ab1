import { z } from 'zod'
import { type Clock, isoTime } from '@tollbook/core/clock'
import type { Upstream } from '../../../sourcing/upstream.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { Bar } from '../../../sourcing/history/bars.ts'
import { askNasdaq, dollarsOf, nasdaqFailure, nasdaqStatus } from './nasdaq.ts'
import { decimalOf, readJson, refuseStatus } from '../../../sourcing/provider.ts'
import { midnightMsOf, stockHistoryObservation, type StockHistoryProvider, type StockRange } from './stockHistory.ts'
import { isOfUnitedStates, isSameSymbol, withClass } from './ticker.ts'

const dayMs = 24 * 60 * 60_000
const timeZone = 'America/New_York'
/** Days of the calendar in each range: five days of trading are in ten of these. */
const daysOf: Readonly<Record<StockRange, number>> = { '5d': 10, '1mo': 31, '6mo': 183, '1y': 366 }
const shortRows = 5
const rowsMax = 300

const date = z.string().regex(/^\d{2}\/\d{2}\/\d{4}$/)
const price = z.string().max(50)
const row = z.object({ date, open: price, high: price, low: price, close: price, volume: price.nullish() })
const answer = z.object({
  data: z
    .object({ symbol: z.string(), tradesTable: z.object({ rows: z.array(row).max(rowsMax).nullish() }).nullish() })
    .nullish(),
  status: nasdaqStatus,
})

/** Bars of a day, newest first, adjusted for splits and not for dividends. The day that runs has no bar. */
export function createNasdaqHistory(upstream: Upstream, clock: Clock): StockHistoryProvider {
  return {
    name: 'nasdaq',
    pace: upstream.pace,
    whyUnavailable: () => upstream.whyResting(),
    covers: ({ ticker }) => isOfUnitedStates(ticker),
    ask(query) {
      const nowMs = clock.nowMs()
      const dateOf = (ms: number) => isoTime(ms).slice(0, 10)
      const fields = {
        fromdate: dateOf(nowMs - daysOf[query.range] * dayMs),
        todate: dateOf(nowMs),
        limit: String(rowsMax),
      }
      return askNasdaq(upstream, query.ticker, {
        what: 'historical',
        fields,
        read(reply) {
          refuseStatus(reply, 'bad_payload')
          const { data, status } = readJson(reply, answer)
          if (data === undefined || data === null) throw nasdaqFailure(status)
          if (!isSameSymbol(data.symbol, withClass(query.ticker, '.')))
            throw new UpstreamFailure('bad_payload', 'another symbol was answered')
          const rows = data.tradesTable?.rows ?? []
          const bars = rows.slice(0, query.range === '5d' ? shortRows : rowsMax).map(barOf)
          // Every listing here is of the United States.
          const history = {
            bars: bars.toReversed(),
            intervalMs: dayMs,
            currency: 'USD',
            facts: { adjusted: 'splits' },
          }
          return stockHistoryObservation(history, query, { nowMs, timeZone })
        },
      })
    },
  }
}

function barOf({ date: said, open, high, low, close, volume }: z.infer<typeof row>): Bar {
  const [month = '', day = '', year = ''] = said.split('/')
  const read = (text: string) => dollarsOf(text) ?? Number.NaN
  return {
    startMs: midnightMsOf(`${year}-${month}-${day}`, timeZone),
    open: read(open),
    high: read(high),
    low: read(low),
    close: read(close),
    volume: decimalOf(volume?.replaceAll(',', '')),
  }
}

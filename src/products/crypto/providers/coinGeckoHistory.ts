import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import type { Upstream } from '../../../outbound/upstream.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { refuseCoinGeckoError } from './coinGeckoUpstream.ts'
import {
  cryptoHistoryObservation,
  type CryptoHistoryProvider,
  type HistoryRange,
  historyPercentMax,
} from './cryptoHistory.ts'
import { ofUpstream } from '../../../outbound/publicUpstream.ts'
import { readJson } from '../../../outbound/upstreamReply.ts'

const minute = 60_000
const day = 24 * 60 * minute
/** Days to request for each range. CoinGecko derives the length of a bar from the number of days. */
const spans: Readonly<Record<HistoryRange, { readonly days: string; readonly intervalMs: number }>> = {
  '1d': { days: '1', intervalMs: 30 * minute },
  '7d': { days: '7', intervalMs: 240 * minute },
  '30d': { days: '30', intervalMs: 240 * minute },
}
// CoinGecko adds a bar only after the bar has ended.
const renewedMs = 30 * minute

const rows = z.array(z.tuple([z.number(), z.number(), z.number(), z.number(), z.number()])).max(250)

/** Creates a provider of histories in dollars, without volume. CoinGecko dates a bar by its end. */
export function createCoinGeckoHistory(upstream: Upstream, clock: Clock): CryptoHistoryProvider {
  return {
    ...ofUpstream(upstream),
    isMetered: true,
    async ask({ coinGeckoId, range, price }) {
      if (coinGeckoId === undefined) throw new UpstreamFailure('not_covered', 'the id of this coin is not known')
      const { days, intervalMs } = spans[range]
      const query = { vs_currency: 'usd', days }
      return upstream.ask({ path: `/coins/${encodeURIComponent(coinGeckoId)}/ohlc`, query }, (reply) => {
        refuseCoinGeckoError(reply)
        const bars = readJson(reply, rows).map(([endMs, open, high, low, close]) => {
          return { startMs: endMs - intervalMs, open, high, low, close }
        })
        const nowMs = clock.nowMs()
        const ageMaxMs = intervalMs + renewedMs
        const sinceMs = nowMs - Number(days) * day - ageMaxMs - intervalMs
        const rule = { range, price, nowMs, sinceMs, intervalMs, percentMax: historyPercentMax.ended, ageMaxMs }
        return cryptoHistoryObservation(bars, rule)
      })
    },
  }
}

import { z } from 'zod'
import { isoTime } from '@tollbook/core/clock'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { baseUrlOf } from '../../../product/upstreamName.ts'
import { type CryptoHistoryProvider, cryptoRanges, exchangeHistory } from './cryptoHistory.ts'
import { paceOf, type ProviderDeps, readJson, refuseStatus } from '../../../sourcing/provider.ts'

// Apart from the price check, which must not wait for these.
const pacePublic = { requests: 15, perSeconds: 30 }

/** Start, low, high, open, close, volume in coins; newest first, at most 300. Hours without a trade are left out. */
const candle = z.tuple([z.number(), z.number(), z.number(), z.number(), z.number(), z.number()])
const candles = z.array(candle).max(300)

/** Bars of one hour or one day in dollars, as those of Kraken. */
export function createCoinbaseHistory(deps: ProviderDeps): CryptoHistoryProvider {
  const { clock } = deps
  const setting = deps.upstreams.COINBASE
  const upstream = deps.openUpstream({
    name: 'coinbase',
    base: baseUrlOf(setting, 'https://api.exchange.coinbase.com'),
    pace: paceOf(setting, pacePublic),
    timeoutMs: 3_000,
  })
  return {
    name: 'coinbase',
    pace: upstream.pace,
    whyUnavailable: () => upstream.whyResting(),
    covers: ({ coin }) => coin?.coinbase !== undefined,
    async ask(query) {
      const product = query.coin?.coinbase
      if (product === undefined)
        throw new UpstreamFailure('not_covered', 'the coin is not traded against the dollar here')
      const { intervalMs, spanMs } = cryptoRanges[query.range]
      const nowMs = clock.nowMs()
      const sinceMs = Math.floor((nowMs - spanMs) / 1_000) * 1_000
      const fields = { granularity: String(intervalMs / 1_000), start: isoTime(sinceMs), end: isoTime(nowMs) }
      return upstream.ask({ path: `/products/${product}/candles`, query: fields }, (reply) => {
        refuseStatus(reply)
        const bars = readJson(reply, candles).map(([time, low, high, open, close, volume]) => {
          return { startMs: time * 1_000, open, high, low, close, volume }
        })
        return exchangeHistory(bars.toReversed(), query, { sinceMs, nowMs })
      })
    },
  }
}

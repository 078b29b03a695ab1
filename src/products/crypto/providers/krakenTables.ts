import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import type { Upstream } from '../../../outbound/upstream.ts'
import type { Bar } from '../../../sourcing/history/bars.ts'
import { type CryptoHistoryProvider, cryptoRanges, exchangeHistory } from './cryptoHistory.ts'
import { type OtherCurrency, ratesObservation, type RatesProvider } from './exchangeRate.ts'
import { isSamePair, krakenBase, krakenPairOf, refuseKrakenError } from './kraken.ts'
import { decimalOf, type ProviderDeps } from '../../../sourcing/provider.ts'
import { ofUpstream, openUpstreamOf } from '../../../outbound/publicUpstream.ts'
import { readJson, refuseStatus } from '../../../outbound/upstreamReply.ts'

// This limit is separate from the limit of the price check, so that these requests never use up that limit.
const pacePublic = { requests: 15, perSeconds: 30 }

/** Opens Kraken for rates and histories. Their answers are longer than that of a price check, so the timeout is 3 s. */
export function openKrakenTables(deps: ProviderDeps): Upstream {
  return openUpstreamOf(deps, 'KRAKEN', { name: 'kraken', publicBase: krakenBase, pace: pacePublic, timeoutMs: 3_000 })
}

/**
 * Kraken's pair for each currency, the key of the pair in the result, and its base currency. `of: 'it'` means that the
 * pair states dollars per unit of the currency.
 */
const pairs: Readonly<
  Record<OtherCurrency, { readonly pair: string; readonly key: string; readonly of: 'USD' | 'it' }>
> = {
  EUR: { pair: 'EURUSD', key: 'ZEURZUSD', of: 'it' },
  GBP: { pair: 'GBPUSD', key: 'ZGBPZUSD', of: 'it' },
  JPY: { pair: 'USDJPY', key: 'ZUSDZJPY', of: 'USD' },
  CAD: { pair: 'USDCAD', key: 'ZUSDZCAD', of: 'USD' },
  CHF: { pair: 'USDCHF', key: 'USDCHF', of: 'USD' },
  AUD: { pair: 'AUDUSD', key: 'AUDUSD', of: 'it' },
}
const pairList = Object.values(pairs)
  .map(({ pair }) => pair)
  .join(',')

const sides = z.array(z.string()).min(1)
const tickers = z.object({
  error: z.array(z.string()),
  result: z.record(z.string(), z.object({ a: sides, b: sides })).optional(),
})

/**
 * Creates a provider of exchange rates. A rate is the middle of bid and ask, because a thinly traded pair may have no
 * trade for hours.
 */
export function createKrakenRates(upstream: Upstream, clock: Clock): RatesProvider {
  return {
    name: 'kraken',
    whyUnavailable: () => upstream.whyResting(),
    ask: () =>
      upstream.ask({ path: '/0/public/Ticker', query: { pair: pairList } }, (reply) => {
        refuseStatus(reply)
        const { error, result = {} } = readJson(reply, tickers)
        refuseKrakenError(error)
        const rateOf = (currency: OtherCurrency) => {
          const { key, of } = pairs[currency]
          const { a: [ask] = [], b: [bid] = [] } = result[key] ?? {}
          const middle = ((decimalOf(ask) ?? Number.NaN) + (decimalOf(bid) ?? Number.NaN)) / 2
          return of === 'USD' ? middle : 1 / middle
        }
        return ratesObservation(rateOf, clock.nowMs())
      }),
  }
}

const row = z.tuple([z.number(), z.string(), z.string(), z.string(), z.string(), z.string(), z.string(), z.number()])
const table = z.object({
  error: z.array(z.string()),
  result: z.record(z.string(), z.union([z.array(row).max(1_000), z.number()])).optional(),
})

/**
 * Creates a provider of histories in dollars. The volume is the volume at Kraken only, in coins. The last bar is still
 * running.
 */
export function createKrakenHistory(upstream: Upstream, clock: Clock): CryptoHistoryProvider {
  return {
    ...ofUpstream(upstream),
    covers: ({ coin }) => coin?.kraken !== undefined,
    async ask(query) {
      const pair = krakenPairOf(query.coin)
      const { intervalMs, spanMs } = cryptoRanges[query.range]
      const since = Math.floor((clock.nowMs() - spanMs) / 1_000)
      const fields = { pair, interval: String(intervalMs / 60_000), since: String(since) }
      return upstream.ask({ path: '/0/public/OHLC', query: fields }, (reply) => {
        refuseStatus(reply)
        const { error, result = {} } = readJson(reply, table)
        refuseKrakenError(error)
        const rows = Object.entries(result).flatMap(([name, value]) =>
          typeof value !== 'number' && isSamePair(name, pair) ? value : [],
        )
        return exchangeHistory(rows.map(barOf), query, { sinceMs: since * 1_000, nowMs: clock.nowMs() })
      })
    },
  }
}

function barOf([time, open, high, low, close, , volume]: z.infer<typeof row>): Bar {
  const read = (text: string) => decimalOf(text) ?? Number.NaN
  return {
    startMs: time * 1_000,
    open: read(open),
    high: read(high),
    low: read(low),
    close: read(close),
    volume: read(volume),
  }
}

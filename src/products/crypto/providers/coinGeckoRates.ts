import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import type { Upstream } from '../../../outbound/upstream.ts'
import { refuseCoinGeckoError } from './coinGeckoUpstream.ts'
import { ratesObservation, type RatesProvider } from './exchangeRate.ts'
import { readJson } from '../../../outbound/upstreamReply.ts'

/** CoinGecko's answer: the price of one bitcoin in each currency. */
const answer = z.object({
  rates: z.record(z.string(), z.object({ value: z.number(), type: z.string() }).nullable().catch(null)),
})

/** Derives exchange rates from the prices of bitcoin. The answer has no timestamp. */
export function createCoinGeckoRates(upstream: Upstream, clock: Clock): RatesProvider {
  return {
    name: 'coingecko',
    isMetered: true,
    whyUnavailable: () => upstream.whyResting(),
    ask: () =>
      upstream.ask({ path: '/exchange_rates' }, (reply) => {
        refuseCoinGeckoError(reply)
        const { rates } = readJson(reply, answer)
        const bitcoinIn = (currency: string) => {
          const rate = rates[currency.toLowerCase()]
          return rate?.type === 'fiat' ? rate.value : undefined
        }
        const dollars = bitcoinIn('USD') ?? Number.NaN
        return ratesObservation((currency) => (bitcoinIn(currency) ?? Number.NaN) / dollars, clock.nowMs())
      }),
  }
}

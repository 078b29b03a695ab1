import { z } from 'zod'
import type { AgreementRule } from '../../../sourcing/agreement/judgeReadings.ts'
import type { Tolerance } from '../../../sourcing/agreement/figures.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { Observation, Provider } from '../../../sourcing/provider.ts'

/** Currencies for which both CoinGecko and Kraken have rates. */
export const otherCurrencies = ['EUR', 'GBP', 'JPY', 'CAD', 'CHF', 'AUD'] as const
export type OtherCurrency = (typeof otherCurrencies)[number]

const exchangeRates = z.record(z.enum(otherCurrencies), z.number().positive())
/** Units of each currency per US dollar. */
export type ExchangeRates = z.infer<typeof exchangeRates>

/** An empty query, because every answer contains all rates. */
export type RatesQuery = Readonly<Record<string, never>>

export type RatesProvider = Provider<RatesQuery, ExchangeRates>

function ofEach(tolerance: Tolerance) {
  return Object.fromEntries(otherCurrencies.map((currency) => [currency, tolerance]))
}

/**
 * Tolerances between providers. They are needed, because CoinGecko derives its rates from bitcoin prices, which differ
 * between venues.
 */
export const ratesAgreement: AgreementRule = {
  main: 'EUR',
  tolerances: ofEach({ percent: 1 }),
  jumps: ofEach({ percent: 3 }),
}

/**
 * Returns the rates of a provider. A single missing currency fails the whole answer, because the sources are compared
 * in all currencies.
 */
export function ratesObservation(
  rateOf: (currency: OtherCurrency) => number | undefined,
  asOfMs: number,
): Observation<ExchangeRates> {
  const rates = exchangeRates.safeParse(
    Object.fromEntries(otherCurrencies.map((currency) => [currency, rateOf(currency)])),
  )
  if (!rates.success)
    throw new UpstreamFailure(
      'incomplete',
      `the rate of ${rates.error.issues[0]?.path.join()} is missing, zero or negative`,
    )
  return { data: rates.data, figures: rates.data, asOfMs }
}

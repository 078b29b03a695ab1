import type { AgreementRule } from '../../../sourcing/agreement/judgeReadings.ts'
import type { Tolerance } from '../../../sourcing/agreement/figures.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { Observation, Provider } from '../../../sourcing/provider.ts'

/** The currencies that both sources of rates have. */
export const otherCurrencies = ['EUR', 'GBP', 'JPY', 'CAD', 'CHF', 'AUD'] as const
export type OtherCurrency = (typeof otherCurrencies)[number]

/** Units of each currency for one US dollar. */
export type ExchangeRates = Readonly<Record<OtherCurrency, number>>

/** All rates come in one answer, so there is nothing to ask for. */
export type RatesQuery = Readonly<Record<string, never>>

export type RatesProvider = Provider<RatesQuery, ExchangeRates>

function ofEach(tolerance: Tolerance) {
  return { EUR: tolerance, GBP: tolerance, JPY: tolerance, CAD: tolerance, CHF: tolerance, AUD: tolerance }
}

/** CoinGecko's rates are made of prices of bitcoin, which differ between venues by tenths of a per cent. */
export const ratesAgreement: AgreementRule = {
  main: 'EUR',
  tolerances: ofEach({ percent: 1 }),
  jumps: ofEach({ percent: 3 }),
}

/** A currency that a source leaves out costs its whole answer: the sources are compared in all of them. */
export function ratesObservation(
  rateOf: (currency: OtherCurrency) => number | undefined,
  asOfMs: number,
): Observation<ExchangeRates> {
  const read = (currency: OtherCurrency) => {
    const rate = rateOf(currency)
    if (rate !== undefined && Number.isFinite(rate) && rate > 0) return rate
    throw new UpstreamFailure('incomplete', `the rate of ${currency} is missing, zero or negative`)
  }
  const rates = {
    EUR: read('EUR'),
    GBP: read('GBP'),
    JPY: read('JPY'),
    CAD: read('CAD'),
    CHF: read('CHF'),
    AUD: read('AUD'),
  }
  return { data: rates, figures: rates, asOfMs }
}

/** A sample exchange rate. The figures are invented and constant. */
export interface Currency {
  readonly code: string
  readonly name: string
  readonly unit: string
  readonly perUsd: number
  /** Kraken's name for the pair with the dollar, and the name in its answer. */
  readonly kraken?: { readonly pair: string; readonly key: string }
}

export const currencies: readonly Currency[] = [
  { code: 'USD', name: 'US Dollar', unit: '$', perUsd: 1 },
  { code: 'EUR', name: 'Euro', unit: '€', perUsd: 0.86, kraken: { pair: 'EURUSD', key: 'ZEURZUSD' } },
  { code: 'GBP', name: 'British Pound Sterling', unit: '£', perUsd: 0.76, kraken: { pair: 'GBPUSD', key: 'ZGBPZUSD' } },
  { code: 'JPY', name: 'Japanese Yen', unit: '¥', perUsd: 155, kraken: { pair: 'USDJPY', key: 'ZUSDZJPY' } },
  { code: 'CAD', name: 'Canadian Dollar', unit: 'CA$', perUsd: 1.4, kraken: { pair: 'USDCAD', key: 'ZUSDZCAD' } },
  { code: 'CHF', name: 'Swiss Franc', unit: 'Fr.', perUsd: 0.8, kraken: { pair: 'USDCHF', key: 'USDCHF' } },
  { code: 'AUD', name: 'Australian Dollar', unit: 'A$', perUsd: 1.53, kraken: { pair: 'AUDUSD', key: 'AUDUSD' } },
]

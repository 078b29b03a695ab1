/** `pair` is Kraken's name of the pair with the dollar, and `key` the name in Kraken's answer. */
export interface Currency {
  readonly code: string
  readonly perUsd: number
  readonly pair: string
  readonly key: string
}

/** The figures are invented and constant. */
export const currencies: readonly Currency[] = [
  { code: 'EUR', perUsd: 0.86, pair: 'EURUSD', key: 'ZEURZUSD' },
  { code: 'GBP', perUsd: 0.76, pair: 'GBPUSD', key: 'ZGBPZUSD' },
  { code: 'JPY', perUsd: 155, pair: 'USDJPY', key: 'ZUSDZJPY' },
  { code: 'CAD', perUsd: 1.4, pair: 'USDCAD', key: 'ZUSDZCAD' },
  { code: 'CHF', perUsd: 0.8, pair: 'USDCHF', key: 'USDCHF' },
  { code: 'AUD', perUsd: 1.53, pair: 'AUDUSD', key: 'AUDUSD' },
]

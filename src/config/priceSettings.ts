import { z } from 'zod'
import { parseTokenPrice } from '../pricing/tokenPrice.ts'
import { wholeNumber } from './variables.ts'

/** The token price, by which prices in US dollars become prices in tokens. */
export interface PriceSettings {
  /** `fixed`: `tokenPriceAttoUsd`. `market`: the price that the markets agree on. */
  readonly source: 'fixed' | 'market'
  readonly tokenPriceAttoUsd: bigint
  readonly market: MarketSettings
}

interface MarketSettings {
  /** Markets agree while each is within this share of their median. */
  readonly tolerancePercent: number
  readonly liquidityMinUsd: number
  /** Maximum age of a quoted price, counted from the last agreement of the markets. */
  readonly ageMaxMs: number
}

const tokenPrice = z
  .string()
  .transform((value, context) => {
    const price = parseTokenPrice(value)
    if (price !== undefined) return price
    context.addIssue('must be a decimal from 0.000000000001 to 1000000 US dollars, such as 0.001')
    return z.NEVER
  })
  .default(10n ** 15n)

export const priceVariables = {
  TOKEN_PRICE_SOURCE: z.enum(['fixed', 'market'], 'must be fixed or market').default('fixed'),
  TOKEN_PRICE_USD: tokenPrice,
  TOKEN_PRICE_TOLERANCE_PERCENT: wholeNumber(1, 50, 2),
  TOKEN_PRICE_LIQUIDITY_MIN_USD: wholeNumber(0, 1_000_000_000, 10_000),
  TOKEN_PRICE_AGE_MAX_SECONDS: wholeNumber(15, 3_600, 300),
}

export function priceSettingsOf(env: z.infer<z.ZodObject<typeof priceVariables>>): PriceSettings {
  return {
    source: env.TOKEN_PRICE_SOURCE,
    tokenPriceAttoUsd: env.TOKEN_PRICE_USD,
    market: {
      tolerancePercent: env.TOKEN_PRICE_TOLERANCE_PERCENT,
      liquidityMinUsd: env.TOKEN_PRICE_LIQUIDITY_MIN_USD,
      ageMaxMs: env.TOKEN_PRICE_AGE_MAX_SECONDS * 1000,
    },
  }
}

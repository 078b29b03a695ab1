import { z } from 'zod'
import { parseTokenPrice } from '../pricing/tokenPrice.ts'
import { variable, integerFrom } from './variables.ts'

const tokenPrice = z
  .string()
  .transform((value, context) => {
    const price = parseTokenPrice(value)
    if (price !== undefined) return price
    context.addIssue('must be a decimal from 0.000000000001 to 1000000 US dollars, such as 0.001')
    return z.NEVER
  })
  .default(10n ** 15n)

export const priceConfig = z.object({
  source: variable('TOKEN_PRICE_SOURCE', z.enum(['fixed', 'market'], 'must be fixed or market').default('fixed')),
  tokenPriceAttoUsd: variable('TOKEN_PRICE_USD', tokenPrice),
  /** Minimum liquidity of a market in US dollars. Markets that report less are ignored. */
  liquidityMinUsd: variable('TOKEN_PRICE_LIQUIDITY_MIN_USD', integerFrom(0, 1_000_000_000, 10_000)),
})

export type PriceConfig = z.infer<typeof priceConfig>

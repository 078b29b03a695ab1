import { divideRoundingDown } from '@tollbook/core/money'
import type { TokenPriceAttoUsd } from './tokenPrice.ts'

export interface MarketReading {
  readonly source: string
  readonly tokenPriceAttoUsd: TokenPriceAttoUsd
  /** Whole US dollars, rounded down. Undefined if the market does not report its liquidity. */
  readonly liquidityUsd: bigint | undefined
}

export interface MarketPolicy {
  /** Maximum difference between an agreeing market and the median. */
  readonly tolerancePercent: number
  /** Whole US dollars. 0: no minimum. */
  readonly liquidityMinUsd: number
}

/** `why` is for operators. Callers get an error without this reason. */
export type Agreement =
  | { readonly kind: 'agreed'; readonly tokenPriceAttoUsd: TokenPriceAttoUsd }
  | { readonly kind: 'none'; readonly why: string }

const agreeingMin = 2

/**
 * A single false market moves the price by at most the tolerance from an honest market. Markets with little liquidity
 * are ignored, because manipulating their price is cheap. If a minimum is set, a market that does not report its
 * liquidity counts only together with one that reports enough.
 */
export function agree(readings: readonly MarketReading[], policy: MarketPolicy): Agreement {
  const liquidityMinUsd = BigInt(policy.liquidityMinUsd)
  const voices = readings.filter(({ liquidityUsd }) => liquidityUsd === undefined || liquidityUsd >= liquidityMinUsd)
  if (voices.length < agreeingMin)
    return none(`${voices.length} of the ${agreeingMin} markets needed have a price with enough liquidity behind it`)
  const medianAttoUsd = medianRoundingDown(voices.map(({ tokenPriceAttoUsd }) => tokenPriceAttoUsd))
  const near = voices.filter(({ tokenPriceAttoUsd }) =>
    isWithin(tokenPriceAttoUsd, medianAttoUsd, policy.tolerancePercent),
  )
  if (near.length < agreeingMin)
    return none(`the markets are more than ${policy.tolerancePercent} % away from their median`)
  if (liquidityMinUsd > 0n && near.every(({ liquidityUsd }) => liquidityUsd === undefined))
    return none('none of the agreeing markets reports the liquidity behind its price')
  return { kind: 'agreed', tokenPriceAttoUsd: medianAttoUsd }
}

function none(why: string): Agreement {
  return { kind: 'none', why }
}

/** With an even number of prices, rounds the mean of the middle two down, by at most half of 10^-18 dollars. */
function medianRoundingDown(prices: readonly TokenPriceAttoUsd[]): TokenPriceAttoUsd {
  const ordered = prices.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0))
  const middle = ordered.slice(Math.floor((ordered.length - 1) / 2), Math.floor(ordered.length / 2) + 1)
  return divideRoundingDown(
    middle.reduce((sum, price) => sum + price, 0n),
    BigInt(middle.length),
  )
}

/** Compares exactly, because it multiplies and never divides. */
export function isWithin(price: TokenPriceAttoUsd, reference: TokenPriceAttoUsd, percent: number): boolean {
  const distanceAttoUsd = price > reference ? price - reference : reference - price
  return distanceAttoUsd * 100n <= reference * BigInt(percent)
}

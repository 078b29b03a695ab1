import { divideRoundingDown } from '@tollbook/core/money'
import type { TokenPriceAttoUsd } from './tokenPrice.ts'

export interface MarketReading {
  readonly source: string
  readonly tokenPriceAttoUsd: TokenPriceAttoUsd
  /** Liquidity behind the price in whole US dollars, rounded down. Undefined if the market does not report it. */
  readonly liquidityUsd: bigint | undefined
}

export interface MarketPolicy {
  /** Agreeing markets differ from the median by at most this percentage. */
  readonly tolerancePercent: number
  /** 0: no minimum. */
  readonly liquidityMinUsd: number
}

/** `why` is for operators; callers get an error without the reason. */
export type Agreement =
  | { readonly kind: 'agreed'; readonly tokenPriceAttoUsd: TokenPriceAttoUsd }
  | { readonly kind: 'none'; readonly why: string }

const agreeingMin = 2

/**
 * The median of the markets, if at least two of them are near it. A single lying market therefore moves the price no
 * further than the tolerance from an honest one. Markets with little liquidity are ignored, because manipulating them
 * is cheap. A market that does not report its liquidity counts only together with one that reports enough.
 */
export function agree(readings: readonly MarketReading[], policy: MarketPolicy): Agreement {
  const liquidityMinUsd = BigInt(policy.liquidityMinUsd)
  const voices = readings.filter(({ liquidityUsd }) => liquidityUsd === undefined || liquidityUsd >= liquidityMinUsd)
  if (voices.length < agreeingMin)
    return none(`${voices.length} of the ${agreeingMin} markets needed have a price with enough liquidity behind it`)
  const median = medianRoundingDown(voices.map(({ tokenPriceAttoUsd }) => tokenPriceAttoUsd))
  const near = voices.filter(({ tokenPriceAttoUsd }) => isWithin(tokenPriceAttoUsd, median, policy.tolerancePercent))
  if (near.length < agreeingMin)
    return none(`the markets are more than ${policy.tolerancePercent} % away from their median`)
  if (liquidityMinUsd > 0n && near.every(({ liquidityUsd }) => liquidityUsd === undefined))
    return none('none of the agreeing markets reports the liquidity behind its price')
  return { kind: 'agreed', tokenPriceAttoUsd: median }
}

function none(why: string): Agreement {
  return { kind: 'none', why }
}

/** Rounds the mean of the middle two down, by at most half of 10^-18 dollars. The order of the markets does not matter. */
function medianRoundingDown(prices: readonly TokenPriceAttoUsd[]): TokenPriceAttoUsd {
  const ordered = prices.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0))
  const middle = ordered.slice(Math.floor((ordered.length - 1) / 2), Math.floor(ordered.length / 2) + 1)
  return divideRoundingDown(
    middle.reduce((sum, price) => sum + price, 0n),
    BigInt(middle.length),
  )
}

/** Exact, because no price is divided. */
export function isWithin(price: TokenPriceAttoUsd, reference: TokenPriceAttoUsd, percent: number): boolean {
  const distance = price > reference ? price - reference : reference - price
  return distance * 100n <= reference * BigInt(percent)
}

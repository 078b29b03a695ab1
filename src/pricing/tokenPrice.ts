import { assert } from '@tollbook/core/assert'
import { divideRoundingDown, divideRoundingUp, parseDecimal, parseRoundingDown } from '@tollbook/core/money'
import { usdDecimals } from './priceList.ts'

/** Multiples of 10^-18 US dollars. */
export type TokenPriceAttoUsd = bigint

export const tokenPriceDecimals = 18

// Bounds of the token price. Below 10^-12 dollars the price has fewer than seven significant digits.
const tokenPriceMin: TokenPriceAttoUsd = 10n ** 6n
const tokenPriceMax: TokenPriceAttoUsd = 10n ** 24n

const isTokenPrice = (attoUsd: TokenPriceAttoUsd | undefined): attoUsd is TokenPriceAttoUsd =>
  attoUsd !== undefined && attoUsd >= tokenPriceMin && attoUsd <= tokenPriceMax

/** Undefined for a price out of bounds, and for text that is not a plain decimal with at most 18 digits after the point. */
export function parseTokenPrice(text: string): TokenPriceAttoUsd | undefined {
  const priceAttoUsd = parseDecimal(text, tokenPriceDecimals)
  return isTokenPrice(priceAttoUsd) ? priceAttoUsd : undefined
}

/** Cuts the price off after 18 digits. Undefined for zero, for a price out of bounds, and for text that is not a number. */
export function parseMarketPrice(text: string): TokenPriceAttoUsd | undefined {
  const priceAttoUsd = parseRoundingDown(text, tokenPriceDecimals)
  return isTokenPrice(priceAttoUsd) ? priceAttoUsd : undefined
}

/** Amounts on chain have 64 bits, so a higher price could not be paid. */
export const baseUnitsMax = 2n ** 64n - 1n

export interface RequiredInput {
  readonly priceMicroUsd: bigint
  readonly tokenPriceAttoUsd: TokenPriceAttoUsd
  readonly decimals: number
}

/** Returns ⌈priceUSD / tokenPrice⌉ in base units. Rounding down could make a request free. */
export function requiredBaseUnits(input: RequiredInput): bigint {
  assert(input.priceMicroUsd > 0n, 'a price is positive')
  return divideRoundingUp(input.priceMicroUsd * scaleOf(input), input.tokenPriceAttoUsd)
}

export function microUsdWithin(baseUnits: bigint, value: Omit<RequiredInput, 'priceMicroUsd'>): bigint {
  return divideRoundingDown(baseUnits * value.tokenPriceAttoUsd, scaleOf(value))
}

const scaleOf = ({ decimals }: Pick<RequiredInput, 'decimals'>) =>
  10n ** BigInt(decimals + tokenPriceDecimals - usdDecimals)

import { assert } from '@tollbook/core/assert'
import { divideRoundingUp, parseDecimal, parseRoundingDown } from '@tollbook/core/money'
import { usdDecimals } from './priceList.ts'

/**
 * The price of one whole token in US dollars, as an integer of 10^-18 dollars: fine enough for a token
 * worth a billionth of a cent, and exact for every decimal an operator or a market can name.
 */
export type TokenPriceAttoUsd = bigint

export const tokenPriceDecimals = 18

// A token worth less than 10^-12 dollars has fewer than six digits left in atto-dollars; none was ever worth a million.
const tokenPriceMin: TokenPriceAttoUsd = 10n ** 6n
const tokenPriceMax: TokenPriceAttoUsd = 10n ** 24n

const isTokenPrice = (attoUsd: TokenPriceAttoUsd | undefined): attoUsd is TokenPriceAttoUsd =>
  attoUsd !== undefined && attoUsd >= tokenPriceMin && attoUsd <= tokenPriceMax

/** Undefined for text that is not a plain decimal with at most 18 digits after the point, and for absurd prices. */
export function parseTokenPrice(text: string): TokenPriceAttoUsd | undefined {
  const price = parseDecimal(text, tokenPriceDecimals)
  return isTokenPrice(price) ? price : undefined
}

/** A price as a market writes it, cut off after 18 digits. Undefined for text that cannot be the price of a token: zero, absurd, not a number. */
export function parseMarketPrice(text: string): TokenPriceAttoUsd | undefined {
  const price = parseRoundingDown(text, tokenPriceDecimals)
  return isTokenPrice(price) ? price : undefined
}

/** Token amounts on chain are 64-bit: a price above this could not be paid. */
export const baseUnitsMax = 2n ** 64n - 1n

/** `decimals` are those of the mint. */
export interface RequiredInput {
  readonly priceMicroUsd: bigint
  readonly tokenPriceAttoUsd: TokenPriceAttoUsd
  readonly decimals: number
}

/** ⌈priceUSD / tokenPrice⌉ in base units. Rounded up: rounded down, an expensive token would make a request free. */
export function requiredBaseUnits(input: RequiredInput): bigint {
  assert(input.priceMicroUsd > 0n, 'a price is positive')
  const scale = 10n ** BigInt(input.decimals + tokenPriceDecimals - usdDecimals)
  return divideRoundingUp(input.priceMicroUsd * scale, input.tokenPriceAttoUsd)
}

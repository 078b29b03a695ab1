import { assert } from '@tollbook/core/assert'
import { divideRoundingUp, parseDecimal, parseRoundingDown } from '@tollbook/core/money'
import { usdDecimals } from './priceList.ts'

/**
 * The price of one whole token in US dollars, as an integer of 10^-18 dollars: fine enough for a token
 * worth a billionth of a cent, and exact for every decimal an operator or a market can name.
 */
export type TokenPriceAttoUsd = bigint

export const tokenPriceDecimals = 18

/** Undefined when the text is not a positive plain decimal with at most 18 digits after the point. */
export function parseTokenPrice(text: string): TokenPriceAttoUsd | undefined {
  const price = parseDecimal(text, tokenPriceDecimals)
  return price === undefined || price === 0n ? undefined : price
}

// A token worth less than 10^-12 dollars has fewer than six digits left in atto-dollars; none was ever worth a million.
const marketPriceMin: TokenPriceAttoUsd = 10n ** 6n
const marketPriceMax: TokenPriceAttoUsd = 10n ** 24n

/** A price as a market writes it, cut off after 18 digits. Undefined for text that cannot be the price of a token: zero, absurd, not a number. */
export function parseMarketPrice(text: string): TokenPriceAttoUsd | undefined {
  const price = parseRoundingDown(text, tokenPriceDecimals)
  return price === undefined || price < marketPriceMin || price > marketPriceMax ? undefined : price
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

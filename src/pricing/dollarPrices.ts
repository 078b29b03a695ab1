import { assert } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { Price } from '@tollbook/core/quote'
import { wholeDeposit } from './currentPrice.ts'
import { dollarSplit, split } from './split.ts'
import { burnPerMilleOf, distributionOf, type SplitShare } from './splitSetting.ts'
import { requiredBaseUnits, type TokenPriceAttoUsd, tokenPriceDecimals } from './tokenPrice.ts'

/** A dollar token in which endpoints are sold in addition to the service token. */
export interface SoldDollar {
  readonly mint: Address
  readonly decimals: number
  /**
   * Smallest price that is sold in this dollar token, in millionths of a US dollar. A minimum exists, because the
   * network fee of a payment is the same for every price.
   */
  readonly minimumMicroUsd: bigint
  /** `token`: each sale owes the burn in the service token. `none`: sales in this dollar token burn nothing. */
  readonly burn: 'token' | 'none'
  /**
   * Shares of each payment in this dollar token. Undefined: the shares of the service token apply, and the treasury
   * also gets the share of the burn.
   */
  readonly split?: readonly SplitShare[] | undefined
}

/**
 * Returns why a dollar token must not be sold with this split. Undefined if the treasury gets at least the value of the
 * burn for which it delivers tokens.
 */
export function findPoorTreasury(
  { symbol, burn, split: own }: Pick<SoldDollar, 'burn' | 'split'> & { readonly symbol: string },
  policy: readonly SplitShare[],
): string | undefined {
  if (burn === 'none' || own === undefined) return undefined
  const needed = burnPerMilleOf(policy)
  if (own.some(({ account, perMille }) => account === 'treasury' && perMille >= needed)) return undefined
  const { treasury = '0%' } = distributionOf(own)
  return `CURRENCIES gives treasury ${treasury} of ${symbol}, and SPLIT burns ${distributionOf(policy)['burn']}: give treasury at least that share, or set burn=none`
}

/** Price of one dollar token. Every price counts it as exactly one US dollar. */
export const pegAttoUsd: TokenPriceAttoUsd = 10n ** BigInt(tokenPriceDecimals)

/**
 * Returns the prices of a list in a dollar token, from its prices in the service token. A sale in dollars owes the same
 * burn as the same request in the service token. Prices are rounded up, so that every price is above zero.
 */
export function dollarPrices(
  tokenPrices: readonly Price[],
  { mint, decimals, minimumMicroUsd, burn, split: own }: SoldDollar,
  policy: readonly SplitShare[],
): readonly Price[] {
  return tokenPrices
    .filter(({ priceMicroUsd }) => priceMicroUsd >= minimumMicroUsd)
    .map(({ endpoint, priceMicroUsd, mint: token, burnBaseUnits }): Price => {
      assert(token !== mint, 'a price in dollars is made from one in the service token')
      const neededBaseUnits = requiredBaseUnits({ priceMicroUsd, tokenPriceAttoUsd: pegAttoUsd, decimals })
      const price = { endpoint, priceMicroUsd, tokenPriceAttoUsd: pegAttoUsd, mint, decimals }
      const whole = { ...price, requiredBaseUnits: neededBaseUnits }
      // This is a deposit, the only price without a burn. The requests that spend the deposit owe the burns.
      if (burnBaseUnits === 0n) return { ...whole, ...wholeDeposit(neededBaseUnits) }
      const divided = { ...whole, ...split(neededBaseUnits, own ?? dollarSplit(policy)) }
      return burn === 'none' ? divided : { ...divided, tokenBurn: { mint: token, baseUnits: burnBaseUnits } }
    })
}

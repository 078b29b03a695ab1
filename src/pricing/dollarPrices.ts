import { assert } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { Price } from '@tollbook/core/quote'
import { wholeDeposit } from './currentPrice.ts'
import { dollarSplit, split } from './split.ts'
import { burnPerMilleOf, distributionOf, type SplitShare } from './splitSetting.ts'
import { requiredBaseUnits, type TokenPriceAttoUsd, tokenPriceDecimals } from './tokenPrice.ts'

/** A dollar in which endpoints are sold in addition to the service token. */
export interface SoldDollar {
  readonly mint: Address
  readonly decimals: number
  /** Smallest price that is sold in it: the network fee of a payment is the same for every price. */
  readonly minimumMicroUsd: bigint
  /** `token`: each sale owes the burn in the service token. `none`: nothing is burned for it. */
  readonly burn: 'token' | 'none'
  /** Shares of each payment in it. Undefined: those of the token, and treasury gets the share of the burn. */
  readonly split?: readonly SplitShare[] | undefined
}

/**
 * Returns why a dollar must not be sold by this split of the token. Undefined if its treasury gets at least the burn
 * that it delivers.
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

/** One dollar is worth one US dollar in every price. */
export const pegAttoUsd: TokenPriceAttoUsd = 10n ** BigInt(tokenPriceDecimals)

/**
 * The prices of a list in dollars, from its prices in the service token. The burn of a sale is the one of the same
 * request in the token. Rounding up keeps every price above zero.
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
      const required = requiredBaseUnits({ priceMicroUsd, tokenPriceAttoUsd: pegAttoUsd, decimals })
      const price = { endpoint, priceMicroUsd, tokenPriceAttoUsd: pegAttoUsd, mint, decimals }
      // Only a deposit burns nothing in the token: the requests that spend it owe their burns.
      if (burnBaseUnits === 0n) return { ...price, requiredBaseUnits: required, ...wholeDeposit(required) }
      const divided = { ...price, requiredBaseUnits: required, ...split(required, own ?? dollarSplit(policy)) }
      return burn === 'none' ? divided : { ...divided, tokenBurn: { mint: token, baseUnits: burnBaseUnits } }
    })
}

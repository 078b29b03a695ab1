import { assert } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { Price } from '@tollbook/core/quote'
import { dollarSplit, split } from './split.ts'
import type { SplitShare } from './splitSetting.ts'
import { requiredBaseUnits, type TokenPriceAttoUsd, tokenPriceDecimals } from './tokenPrice.ts'

/** A dollar in which endpoints are sold in addition to the service token. */
export interface SoldDollar {
  readonly mint: Address
  readonly decimals: number
  /** Smallest price that is sold in it: the network fee of a payment is the same for every price. */
  readonly minimumMicroUsd: bigint
  /** `token`: each sale owes the burn in the service token. `none`: nothing is burned for it. */
  readonly burn: 'token' | 'none'
}

/** One dollar is worth one US dollar in every price. */
export const pegAttoUsd: TokenPriceAttoUsd = 10n ** BigInt(tokenPriceDecimals)

/**
 * The prices of a list in dollars, from its prices in the service token. The burn of a sale is the one of the same
 * request in the token. Rounding up keeps every price above zero.
 */
export function dollarPrices(
  tokenPrices: readonly Price[],
  { mint, decimals, minimumMicroUsd, burn }: SoldDollar,
  policy: readonly SplitShare[],
): readonly Price[] {
  return (
    tokenPrices
      // A deposit on a tab, of which nothing is burned yet, is sold in the service token only.
      .filter(({ priceMicroUsd, burnBaseUnits }) => priceMicroUsd >= minimumMicroUsd && burnBaseUnits > 0n)
      .map(({ endpoint, priceMicroUsd, mint: token, burnBaseUnits }): Price => {
        assert(token !== mint && burnBaseUnits > 0n, 'a price in dollars is made from one in the service token')
        const required = requiredBaseUnits({ priceMicroUsd, tokenPriceAttoUsd: pegAttoUsd, decimals })
        const price = { endpoint, priceMicroUsd, tokenPriceAttoUsd: pegAttoUsd, mint, decimals }
        const divided = { ...price, requiredBaseUnits: required, ...split(required, dollarSplit(policy)) }
        return burn === 'none' ? divided : { ...divided, tokenBurn: { mint: token, baseUnits: burnBaseUnits } }
      })
  )
}

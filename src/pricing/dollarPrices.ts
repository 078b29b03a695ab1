import { assert } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { Price } from '@tollbook/core/quote'
import { wholeDeposit } from './currentPrice.ts'
import { dollarSplit, split } from './split.ts'
import { burnPerMilleOf, distributionOf, type SplitShare } from './splitSetting.ts'
import { requiredBaseUnits, type TokenPriceAttoUsd, tokenPriceDecimals } from './tokenPrice.ts'

export interface SoldDollar {
  readonly mint: Address
  readonly decimals: number
  /** A minimum exists, because the network fee of a payment is the same for every price. */
  readonly minimumMicroUsd: bigint
  /** `token`: each sale owes the burn in the service token. `none`: sales in this dollar token burn nothing. */
  readonly burn: 'token' | 'none'
  /** Undefined: the shares of the service token apply, and the treasury also gets the share of the burn. */
  readonly split?: readonly SplitShare[] | undefined
}

/** The treasury needs at least the value of the burn, because it delivers the tokens for the burn. */
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

/** Every price counts a dollar token as exactly one US dollar. */
export const pegAttoUsd: TokenPriceAttoUsd = 10n ** BigInt(tokenPriceDecimals)

/**
 * Unless `burn` is `none`, a sale in dollars owes the same burn as in the service token. Prices are rounded up, so that
 * each is above zero.
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

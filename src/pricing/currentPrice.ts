import { divideRoundingUp, formatDecimal } from '@tollbook/core/money'
import { depositAccount } from '@tollbook/core/tab'
import { type PricedProduct, priceEntries, usdDecimals } from './priceList.ts'
import type { Price } from '@tollbook/core/quote'
import { type DividedPrice, smallestSplit, split } from './split.ts'
import type { SplitShare } from './splitSetting.ts'
import { baseUnitsMax, requiredBaseUnits, type TokenPriceAttoUsd, tokenPriceDecimals } from './tokenPrice.ts'

export type PricedEndpoint = Omit<Price, 'mint' | 'tokenBurn'>

export interface TokenValue {
  readonly tokenPriceAttoUsd: TokenPriceAttoUsd
  readonly decimals: number
  readonly split: readonly SplitShare[]
}

/** A string is the message for the operator: an endpoint cannot be sold at this token price. */
export function priceAll(
  products: readonly PricedProduct[],
  { tokenPriceAttoUsd, decimals, split: policy }: TokenValue,
): readonly PricedEndpoint[] | string {
  const smallestBaseUnits = smallestSplit(policy)
  const prices: PricedEndpoint[] = []
  for (const { endpoint, priceMicroUsd, isDeposit } of priceEntries(products)) {
    const neededBaseUnits = requiredBaseUnits({ priceMicroUsd, tokenPriceAttoUsd, decimals })
    if (neededBaseUnits > baseUnitsMax) return `${endpoint} would cost more tokens than can exist`
    if (neededBaseUnits < smallestBaseUnits) {
      const scale = 10n ** BigInt(decimals + tokenPriceDecimals - usdDecimals)
      const usd = formatDecimal(divideRoundingUp(smallestBaseUnits * tokenPriceAttoUsd, scale), usdDecimals)
      return `${endpoint} costs ${neededBaseUnits} base units, and the burn would take all of it. The smallest price that splits is ${smallestBaseUnits} base units, ${usd} USD at this token price`
    }
    const shares = isDeposit === true ? wholeDeposit(neededBaseUnits) : split(neededBaseUnits, policy)
    prices.push({ endpoint, priceMicroUsd, tokenPriceAttoUsd, decimals, requiredBaseUnits: neededBaseUnits, ...shares })
  }
  return prices
}

/** A deposit is prepaid completely: nothing is burned or shared until a tab spends it. */
export function wholeDeposit(baseUnits: bigint): DividedPrice {
  return { burnBaseUnits: 0n, shares: [{ account: depositAccount, baseUnits }] }
}

import { type PricedProduct, priceEntries } from './priceList.ts'
import { type Divided, split } from './split.ts'
import type { SplitShare } from './splitSetting.ts'
import { baseUnitsMax, requiredBaseUnits, type TokenPriceAttoUsd } from './tokenPrice.ts'

/** The price of one endpoint at a token price, and its shares. */
export interface PricedEndpoint extends Divided {
  readonly endpoint: string
  readonly priceMicroUsd: bigint
  readonly tokenPriceAttoUsd: TokenPriceAttoUsd
  readonly decimals: number
  readonly requiredBaseUnits: bigint
}

/** Facts that turn a price in US dollars into tokens and shares. */
export interface TokenValue {
  readonly tokenPriceAttoUsd: TokenPriceAttoUsd
  readonly decimals: number
  readonly split: readonly SplitShare[]
}

/** The whole price list in tokens. Undefined when a request would cost more of them than can exist. */
export function priceAll(
  products: readonly PricedProduct[],
  { tokenPriceAttoUsd, decimals, split: policy }: TokenValue,
): readonly PricedEndpoint[] | undefined {
  const prices = priceEntries(products).map(({ endpoint, priceMicroUsd }) => {
    const required = requiredBaseUnits({ priceMicroUsd, tokenPriceAttoUsd, decimals })
    const shares = split(required, policy)
    return { endpoint, priceMicroUsd, tokenPriceAttoUsd, decimals, requiredBaseUnits: required, ...shares }
  })
  return prices.every(({ requiredBaseUnits: required }) => required <= baseUnitsMax) ? prices : undefined
}

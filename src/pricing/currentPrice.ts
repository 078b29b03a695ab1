import type { PricedProduct } from './priceList.ts'
import { type Split, split } from './split.ts'
import { baseUnitsMax, requiredBaseUnits, type TokenPriceAttoUsd } from './tokenPrice.ts'

/** The price of one endpoint at a token price, and its shares. */
export interface PricedEndpoint extends Split {
  readonly endpoint: string
  readonly priceMicroUsd: bigint
  readonly tokenPriceAttoUsd: TokenPriceAttoUsd
  readonly decimals: number
  readonly requiredBaseUnits: bigint
}

export interface TokenValue {
  readonly tokenPriceAttoUsd: TokenPriceAttoUsd
  readonly decimals: number
}

/** The whole price list in tokens. Undefined when a request would cost more of them than can exist. */
export function priceAll(
  products: readonly PricedProduct[],
  { tokenPriceAttoUsd, decimals }: TokenValue,
): readonly PricedEndpoint[] | undefined {
  const prices = products.map(({ path: endpoint, priceMicroUsd }) => {
    const required = requiredBaseUnits({ priceMicroUsd, tokenPriceAttoUsd, decimals })
    return { endpoint, priceMicroUsd, tokenPriceAttoUsd, decimals, requiredBaseUnits: required, ...split(required) }
  })
  return prices.every(({ requiredBaseUnits: required }) => required <= baseUnitsMax) ? prices : undefined
}

import { type PaidPath, priceList } from './priceList.ts'
import { type Split, split } from './split.ts'
import { baseUnitsMax, requiredBaseUnits, type TokenPriceAttoUsd } from './tokenPrice.ts'

/** What one endpoint costs at a token price, and how it is divided. */
export interface PricedEndpoint extends Split {
  readonly endpoint: PaidPath
  readonly priceMicroUsd: bigint
  readonly tokenPriceAttoUsd: TokenPriceAttoUsd
  readonly decimals: number
  readonly requiredBaseUnits: bigint
}

/** The whole price list in tokens. Undefined when a request would cost more of them than can exist. */
export function priceAll(
  tokenPriceAttoUsd: TokenPriceAttoUsd,
  decimals: number,
): readonly PricedEndpoint[] | undefined {
  const prices = paidPaths().map((endpoint) => {
    const priceMicroUsd = priceList[endpoint]
    const required = requiredBaseUnits({ priceMicroUsd, tokenPriceAttoUsd, decimals })
    return { endpoint, priceMicroUsd, tokenPriceAttoUsd, decimals, requiredBaseUnits: required, ...split(required) }
  })
  return prices.every(({ requiredBaseUnits: required }) => required <= baseUnitsMax) ? prices : undefined
}

function paidPaths(): readonly PaidPath[] {
  return Object.keys(priceList).filter(isPaidPath)
}

function isPaidPath(path: string): path is PaidPath {
  return Object.hasOwn(priceList, path)
}

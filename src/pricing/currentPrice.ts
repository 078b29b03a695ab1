import { type PaidPath, priceList } from './priceList.ts'
import { type Divided, split } from './split.ts'
import type { SplitShare } from './splitSetting.ts'
import { baseUnitsMax, requiredBaseUnits, type TokenPriceAttoUsd } from './tokenPrice.ts'

/** The price of one endpoint at a token price, and its shares. */
export interface PricedEndpoint extends Divided {
  readonly endpoint: PaidPath
  readonly priceMicroUsd: bigint
  readonly tokenPriceAttoUsd: TokenPriceAttoUsd
  readonly decimals: number
  readonly requiredBaseUnits: bigint
}

export interface TokenValue {
  readonly tokenPriceAttoUsd: TokenPriceAttoUsd
  readonly decimals: number
  readonly split: readonly SplitShare[]
}

/** The whole price list in tokens. Undefined when a request would cost more of them than can exist. */
export function priceAll({
  tokenPriceAttoUsd,
  decimals,
  split: policy,
}: TokenValue): readonly PricedEndpoint[] | undefined {
  const prices = paidPaths().map((endpoint) => {
    const priceMicroUsd = priceList[endpoint]
    const required = requiredBaseUnits({ priceMicroUsd, tokenPriceAttoUsd, decimals })
    return { endpoint, priceMicroUsd, tokenPriceAttoUsd, decimals, requiredBaseUnits: required, ...split(required, policy) }
  })
  return prices.every(({ requiredBaseUnits: required }) => required <= baseUnitsMax) ? prices : undefined
}

function paidPaths(): readonly PaidPath[] {
  return Object.keys(priceList).filter(isPaidPath)
}

function isPaidPath(path: string): path is PaidPath {
  return Object.hasOwn(priceList, path)
}

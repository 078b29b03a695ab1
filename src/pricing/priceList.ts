import { endpointOf } from '@tollbook/core/endpointName'
import { displayNumber } from '@tollbook/core/money'
import type { ParsedList } from './commaList.ts'
import type { MeteredPrice } from './meteredPrice.ts'

export interface PricedProduct {
  readonly path: string
  /** An integer, because `1.005 * 1e6` is not 1005000 in floating point. */
  readonly priceMicroUsd: bigint
  /** A tab pays by use, up to `priceMicroUsd`. */
  readonly metered?: MeteredPrice
  readonly variants?: readonly PricedVariant[]
  /** Nothing of a deposit is burned or shared until a tab spends it. */
  readonly isDeposit?: true
}

export interface PricedVariant {
  readonly name: string
  readonly priceMicroUsd: bigint
  readonly metered?: MeteredPrice
}

export interface MeteredEntry extends MeteredPrice {
  readonly endpoint: string
}

export function meteredEntries(products: readonly PricedProduct[]): readonly MeteredEntry[] {
  const entryOf = (endpoint: string, metered: MeteredPrice | undefined) =>
    metered === undefined ? [] : [{ endpoint, ...metered }]
  return products.flatMap(({ path, metered, variants = [] }) => [
    ...entryOf(path, metered),
    ...variants.flatMap((variant) => entryOf(endpointOf(path, variant.name), variant.metered)),
  ])
}

export interface PriceEntry {
  readonly endpoint: string
  readonly priceMicroUsd: bigint
  readonly isDeposit?: true
}

export function priceEntries(products: readonly PricedProduct[]): readonly PriceEntry[] {
  return products.flatMap(({ path, priceMicroUsd, variants = [], isDeposit }) => {
    const kind = isDeposit === undefined ? {} : { isDeposit }
    return [
      { endpoint: path, priceMicroUsd, ...kind },
      ...variants.map((own) => ({ endpoint: endpointOf(path, own.name), priceMicroUsd: own.priceMicroUsd, ...kind })),
    ]
  })
}

export const usdDecimals = 6

/** Returns dollars for display only: payments are computed from `priceMicroUsd`. */
export function displayUsd({ priceMicroUsd }: Pick<PricedProduct, 'priceMicroUsd'>): number {
  return displayNumber(priceMicroUsd, usdDecimals)
}

export interface PriceListConfig {
  /** `PRICES_USD` replaces the prices of the product definitions. */
  readonly prices: ReadonlyMap<string, bigint>
  readonly productsOff: ReadonlySet<string>
}

/** Reports unknown paths of both settings, because the operator would otherwise notice a mistake only in the revenue. */
export function selectProducts<P extends PricedProduct>(
  products: readonly P[],
  { prices, productsOff }: PriceListConfig,
): ParsedList<readonly P[]> {
  const paths = new Set(products.map(({ path }) => path))
  const known = [...paths].join(', ')
  const problems = [
    ...[...prices.keys()].map((path) => ['PRICES_USD', path] as const),
    ...[...productsOff].map((path) => ['PRODUCTS_OFF', path] as const),
  ]
    .filter(([, path]) => !paths.has(path))
    .map(([setting, path]) => `${setting} names "${path}", which is not a product. The products are ${known}`)
  const sold = products
    .filter(({ path }) => !productsOff.has(path))
    .map((product) => ({ ...product, priceMicroUsd: prices.get(product.path) ?? product.priceMicroUsd }))
  if (sold.length === 0) problems.push('PRODUCTS_OFF leaves nothing to sell. Remove at least one path from it')
  return problems.length === 0 ? { ok: true, value: sold } : { ok: false, problems }
}

import type { CatalogDeps } from '../../endpoints/catalog.ts'
import type { ProductDefinition } from '../../endpoints/productDefinition.ts'
import { type PriceListSettings, selectProducts } from '../../pricing/priceList.ts'
import { Fault } from '@tollbook/core/fault'

/** The definitions of the products that this service sells. */
export type SoldProducts = readonly ProductDefinition<CatalogDeps>[]

/** The definitions at the operator's prices, without those that are off. Throws one fault that names every mistake. */
export function soldProducts(products: SoldProducts, settings: PriceListSettings): SoldProducts {
  const selected = selectProducts(products, settings)
  if (selected.ok) return selected.value
  const { problems } = selected
  const [s, lines] = [problems.length === 1 ? '' : 's', problems.map((problem) => `  ${problem}`).join('\n')]
  throw new Fault(`the configuration has ${problems.length} mistake${s}:\n${lines}`, { retryable: false })
}

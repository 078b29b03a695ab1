import type { CatalogDeps } from '../../products/catalog.ts'
import type { ProductDefinition } from '../../product/productDefinition.ts'
import type { ProviderSettings } from '../../config/providerSettings.ts'
import { findModelPriceProblems, type ModelPrices } from '../../pricing/modelPrices.ts'
import { type PriceListSettings, selectProducts } from '../../pricing/priceList.ts'
import { Fault } from '@tollbook/core/fault'

/** The definitions of the products that this service sells. */
export type SoldProducts = readonly ProductDefinition<CatalogDeps>[]

/** The models of the chat products, as far as their prices go. */
export interface SoldModels extends Pick<ProviderSettings, 'aiModelPrices' | 'aiServers'> {
  readonly samples?: Pick<ProviderSettings, 'aiServers'>
}

/** The definitions at the operator's prices, without those that are off. Throws one fault that names every mistake. */
export function soldProducts(products: SoldProducts, settings: PriceListSettings, models: SoldModels): SoldProducts {
  const selected = selectProducts(products, settings)
  const modelProblems = findModelPriceProblems(models.aiModelPrices, modelsOf(models))
  if (selected.ok && modelProblems.length === 0)
    return selected.value.map((product) => withModels(product, models.aiModelPrices))
  const problems = [...(selected.ok ? [] : selected.problems), ...modelProblems]
  const [s, lines] = [problems.length === 1 ? '' : 's', problems.map((problem) => `  ${problem}`).join('\n')]
  throw new Fault(`the configuration has ${problems.length} mistake${s}:\n${lines}`, { retryable: false })
}

function modelsOf({ aiServers, samples }: SoldModels): readonly string[] {
  return [...aiServers, ...(samples?.aiServers ?? [])].flatMap((server) => server.models)
}

/** Each model with its own price is a variant of each chat product. */
function withModels(product: SoldProducts[number], prices: ModelPrices): SoldProducts[number] {
  if (prices.size === 0 || !product.providers.includes('AI')) return product
  return { ...product, variants: [...prices].map(([name, { priceMicroUsd }]) => ({ name, priceMicroUsd })) }
}

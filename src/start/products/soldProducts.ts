import type { ProductFacts } from '../../product/productFacts.ts'
import { configFault } from '../../config.ts'
import type { ProviderConfig } from '../../config/providerConfig.ts'
import { findModelPriceProblems, type ModelPrices } from '../../pricing/modelPrices.ts'
import { type PriceListConfig, selectProducts } from '../../pricing/priceList.ts'

/** Models of the chat products, with the facts for their prices. */
export interface SoldModels extends Pick<ProviderConfig, 'aiModelPrices' | 'aiServers'> {
  readonly samples?: Pick<ProviderConfig, 'aiServers'> | undefined
}

/**
 * Returns the definitions with the operator's prices, without products that are off. Throws one fault that lists every
 * mistake.
 */
export function soldProducts<Product extends ProductFacts>(
  products: readonly Product[],
  config: PriceListConfig,
  models: SoldModels,
): readonly Product[] {
  const selected = selectProducts(products, config)
  const paths = products.map(({ path }) => path)
  const twice = paths.filter((path, index) => paths.indexOf(path) !== index)
  const pathProblems = twice.map((path) => `two products are sold at ${path}. Choose another path in the products file`)
  const modelProblems = findModelPriceProblems(models.aiModelPrices, modelsOf(models))
  const problems = [...(selected.ok ? [] : selected.problems), ...pathProblems, ...modelProblems]
  if (selected.ok && problems.length === 0)
    return selected.value.map((product) => withModels(product, models.aiModelPrices))
  throw configFault(problems)
}

function modelsOf({ aiServers, samples }: SoldModels): readonly string[] {
  return [...aiServers, ...(samples?.aiServers ?? [])].flatMap((server) => server.models)
}

/** Each model with its own price is a variant of each chat product. */
function withModels<Product extends ProductFacts>(product: Product, prices: ModelPrices): Product {
  if (prices.size === 0 || !product.providers.includes('AI')) return product
  return { ...product, variants: [...prices].map(([name, { priceMicroUsd }]) => ({ name, priceMicroUsd })) }
}

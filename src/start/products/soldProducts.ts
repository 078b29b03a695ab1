import type { ProductFacts } from '../../product/productFacts.ts'
import { configFault } from '../../config.ts'
import type { ProviderConfig } from '../../config/providerConfig.ts'
import { meteredPriceOf } from '../../pricing/meteredPrice.ts'
import { findModelPriceProblems, type ModelPrices } from '../../pricing/modelPrices.ts'
import type { MeteredPrices } from '../../pricing/parseMeteredPrices.ts'
import { type PriceListConfig, selectProducts } from '../../pricing/priceList.ts'

type TokenPricing = Pick<ProviderConfig, 'aiTokenPrices' | 'aiOutputTokensMax'>

export interface SoldModels extends Pick<ProviderConfig, 'aiModelPrices' | 'aiServers'>, TokenPricing {
  readonly samples?: Pick<ProviderConfig, 'aiServers'> | undefined
}

/** Returns the products at the operator's prices, without those that are off. Throws one fault that lists every mistake. */
export function soldProducts<Product extends ProductFacts>(
  products: readonly Product[],
  config: PriceListConfig,
  models: SoldModels,
): readonly Product[] {
  const selected = selectProducts(products, config)
  const paths = products.map(({ path }) => path)
  // The products file checks only its own routes. A route may also have the path of a built-in product.
  const twice = paths.filter((path, index) => paths.indexOf(path) !== index)
  const problems = [
    ...(selected.ok ? [] : selected.problems),
    ...twice.map((path) => `two products are sold at ${path}. Choose another path in the products file`),
    ...(selected.ok && selected.value.some(asksModels) && paths.includes(modelList) ? [modelListTaken] : []),
    ...findModelPriceProblems(models.aiModelPrices, modelsOf(models)),
    ...findTokenPriceProblems(models.aiTokenPrices, modelsOf(models)),
  ]
  if (!selected.ok || problems.length > 0) throw configFault(problems)
  const hasTabs = selected.value.some(({ isDeposit }) => isDeposit === true)
  const chats = selected.value.map((product) => withModels(product, models.aiModelPrices))
  // Only tabs pay by use.
  return hasTabs ? chats.map((product) => withMetered(product, models)) : chats
}

const asksModels = ({ providers }: ProductFacts) => providers.includes('AI')
const modelList = '/v1/models'
const modelListTaken = `${modelList} lists the models of the built-in chat, free. Choose another path in the products file, or sell no built-in chat`

function modelsOf({ aiServers, samples }: SoldModels): readonly string[] {
  return [...aiServers, ...(samples?.aiServers ?? [])].flatMap((server) => server.models)
}

function withModels<Product extends ProductFacts>(product: Product, prices: ModelPrices): Product {
  if (prices.size === 0 || !asksModels(product)) return product
  return { ...product, variants: [...prices].map(([name, { priceMicroUsd }]) => ({ name, priceMicroUsd })) }
}

function findTokenPriceProblems(prices: MeteredPrices, models: readonly string[]): readonly string[] {
  return [...prices.keys()].flatMap((name) =>
    models.includes(name)
      ? []
      : [`AI_TOKEN_PRICES_USD names "${name}", which no server offers. The models are ${models.join(', ')}`],
  )
}

/** Adds the prices by use. Tabs pay for the tokens of a reply, and at most the price of a whole reply. */
function withMetered<Product extends ProductFacts>(product: Product, models: SoldModels): Product {
  if (!asksModels(product)) return product
  const { aiTokenPrices, aiModelPrices, aiOutputTokensMax } = models
  // A request without a model is answered by the first model.
  const [standard = ''] = modelsOf(models)
  const meteredOf = (name: string, priceMicroUsd: bigint) => {
    const tokens = aiModelPrices.get(name)?.outputTokensMax ?? aiOutputTokensMax
    return aiTokenPrices.get(name) ?? meteredPriceOf(priceMicroUsd, tokens)
  }
  const { priceMicroUsd, variants } = product
  return {
    ...product,
    metered: meteredOf(standard, priceMicroUsd),
    usedUnit: 'tokens',
    ...(variants === undefined
      ? {}
      : { variants: variants.map((own) => ({ ...own, metered: meteredOf(own.name, own.priceMicroUsd) })) }),
  }
}

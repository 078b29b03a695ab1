import type { DeliveryConfig } from '../../config/deliveryConfig.ts'
import type { ProviderConfig } from '../../config/providerConfig.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import type { BuiltinChoice, BuiltinName } from '../../product/builtinName.ts'
import { type BuiltinProduct, loadProducts, loadSearches, openCatalog, type Parts } from '../../products/catalog.ts'
import type { Endpoint } from '../../product/endpoint.ts'
import { createSearchRoutes } from '../../routes/searchRoutes.ts'
import type { FreeRoute } from '../../transport/freeRoute.ts'
import { closePart } from '../closePart.ts'
import type { LedgerPart } from '../ledger/openLedgerPart.ts'
import { checkProviderTerms } from './acceptedTerms.ts'
import type { Pages, PagesDeps } from './openPages.ts'
import { openProviders, type Providers, type ProvidersDeps } from './openProviders.ts'

export interface GoodsConfig {
  readonly providers: ProviderConfig
  readonly delivery: DeliveryConfig
}

export interface GoodsDeps extends Omit<ProvidersDeps, 'hosts'>, PagesDeps {
  /** At the operator's prices, without the products that are off. */
  readonly sold: readonly BuiltinProduct[]
  readonly terms: Pick<PaymentTerms, 'network'>
  readonly ledger: Pick<LedgerPart, 'openNews'>
}

/**
 * Loads the chosen products. Those that are off are not sold. Their names are still passed on, because `openGoods`
 * serves stored captures until they expire.
 */
export async function chooseGoods(choices: readonly BuiltinChoice[]) {
  const names = choices.map(({ name }) => name)
  const loaded = await loadProducts(names)
  const products: readonly BuiltinProduct[] = loaded.flatMap((product, index) => {
    const { isOff = true, priceMicroUsd = product.priceMicroUsd } = choices[index] ?? {}
    return isOff ? [] : [{ ...product, priceMicroUsd }]
  })
  return {
    products,
    open: (config: GoodsConfig, deps: GoodsDeps) => openGoods(names, config, deps),
  }
}

/** Opens the built-in products. Throws a `Fault` on mainnet if a product uses a provider whose terms are not accepted. */
async function openGoods(names: readonly BuiltinName[], { providers: config, delivery }: GoodsConfig, deps: GoodsDeps) {
  const { log, sold, terms, upstreams } = deps
  checkProviderTerms({ sold, config, log, network: terms.network })
  await using opened = new AsyncDisposableStack()
  const openPages = once(async (): Promise<Pages> => {
    const part = await import('./openPages.ts')
    return opened.adopt(await part.openPages(delivery, deps), closePart)
  })
  const partsOf = (from: Providers) => ({
    data: from.data,
    pages: async () => (await openPages()).needs,
    news: once(async () => {
      const { openNews } = await import('./openNews.ts')
      const { search } = opened.adopt(openNews(delivery, { ...deps, providers: from }), closePart)
      return { ...from.data, newsSearch: search }
    }),
    chat: once(async () => (await import('./openChat.ts')).openChat(config, from, upstreams.caller)),
  })
  const { providers, standIns } = openProviders(config, { ...deps, hosts: delivery.render })
  const [parts, samples] = [partsOf(providers), standIns && partsOf(standIns)]
  const catalog = await openCatalog(sold, parts, samples)
  opened.defer(() => catalog.close())
  const { endpoints } = catalog
  // Open the pages if a product of captures is loaded, even if it is off, because stored captures stay available until
  // they expire.
  const pages = names.includes('screenshot') || names.includes('pdf') ? await openPages() : undefined
  const searches = await loadSearches(names)
  const models = await openModelRoutes(endpoints, parts, samples)
  const stored = opened.move()
  return {
    endpoints,
    routes: [...(pages?.routes ?? []), ...createSearchRoutes(searches), ...models],
    searches,
    checks: pages?.checks ?? [],
    hasStandIns: standIns !== undefined,
    close: () => stored.disposeAsync(),
  }
}

async function openModelRoutes(
  endpoints: readonly Endpoint[],
  parts: Parts,
  samples: Parts | undefined,
): Promise<readonly FreeRoute[]> {
  if (!endpoints.some(({ providers }) => providers.includes('AI'))) return []
  const { modelRoutesOf } = await import('./openChat.ts')
  return modelRoutesOf(endpoints, { provided: await parts.chat(), sampled: await samples?.chat() })
}

/** Opens a part at the first call only, so that a service without the part's products never opens it. */
function once<T>(open: () => Promise<T>): () => Promise<T> {
  let part: Promise<T> | undefined
  return () => (part ??= open())
}

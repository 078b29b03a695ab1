import type { BuiltinName } from '../product/builtinName.ts'
import type { Endpoint } from '../product/endpoint.ts'
import type { FreeSearch } from '../product/freeSearch.ts'
import type { OpenProduct, ProductDefinition } from '../product/productDefinition.ts'
import type { ProductFacts } from '../product/productFacts.ts'
import type { ProviderDeps } from '../sourcing/provider.ts'
import { ofSamples, withStandIn } from '../sourcing/standIn.ts'
import type { ChatDeps } from './chat/chatTurn.ts'
import type { NewsDeps } from './news/news.ts'
import type { RenderDeps } from './page/openRendered.ts'

/** A part is opened for the first product that needs it, so that a service without captures starts no browser. */
export interface Parts {
  readonly data: ProviderDeps
  readonly pages: () => Promise<RenderDeps>
  readonly news: () => Promise<NewsDeps>
  readonly chat: () => Promise<ChatDeps>
}

export interface BuiltinProduct extends ProductFacts {
  open(parts: Parts): Promise<OpenProduct> | OpenProduct
}

interface CatalogEntry {
  readonly load: () => Promise<BuiltinProduct>
  /** Loads the free search over the names that the product accepts. Absent: the product has no free search. */
  readonly loadSearch?: () => Promise<FreeSearch>
}

/**
 * Modules of the built-in products. A module is imported only if its product is sold, so the packages that only this
 * product uses stay unloaded. To add a product, add its name here.
 */
const catalog: Readonly<Record<BuiltinName, CatalogEntry>> = {
  crypto: {
    load: async () => fromProviders((await import('./crypto/crypto.ts')).crypto),
    loadSearch: async () => (await import('./crypto/searchCoins.ts')).coinSearch,
  },
  weather: {
    load: async () => fromProviders((await import('./weather/weather.ts')).weather),
    loadSearch: async () => (await import('./weather/searchPlaces.ts')).placeSearch,
  },
  stock: {
    load: async () => fromProviders((await import('./stock/stock.ts')).stock),
    loadSearch: async () => (await import('./stock/searchTickers.ts')).tickerSearch,
  },
  news: { load: async () => openedWith((await import('./news/news.ts')).news, ({ news }) => news()) },
  qrcode: { load: async () => fromProviders((await import('./qrcode/qrcode.ts')).qrcode) },
  screenshot: {
    load: async () => openedWith((await import('./page/screenshot.ts')).screenshot, ({ pages }) => pages()),
  },
  pdf: { load: async () => openedWith((await import('./page/pdf.ts')).pdf, ({ pages }) => pages()) },
  chat: { load: async () => openedWith((await import('./chat/aiChat.ts')).aiChat, ({ chat }) => chat()) },
  'chat-completions': {
    load: async () => openedWith((await import('./chat/chatCompletions.ts')).chatCompletions, ({ chat }) => chat()),
  },
}

export function loadProducts(names: readonly BuiltinName[]): Promise<readonly BuiltinProduct[]> {
  return Promise.all(names.map((name) => catalog[name].load()))
}

export function loadSearches(names: readonly BuiltinName[]): Promise<readonly FreeSearch[]> {
  return Promise.all(names.flatMap((name) => catalog[name].loadSearch?.() ?? []))
}

/** Converts a product that uses only providers, or no service at all. */
export function fromProviders(product: ProductDefinition<ProviderDeps>): BuiltinProduct {
  return openedWith(product, ({ data }) => data)
}

function openedWith<Needs>(
  product: ProductDefinition<Needs>,
  partOf: (parts: Parts) => Promise<Needs> | Needs,
): BuiltinProduct {
  return { ...product, open: async (parts) => product.open(await partOf(parts)) }
}

/**
 * Opens the products that are sold. Only local mode passes `samples`. A product then answers from samples while none of
 * its providers answers.
 */
export async function openCatalog(sold: readonly BuiltinProduct[], parts: Parts, samples?: Parts) {
  const opened: (ProductFacts & OpenProduct)[] = []
  for (const product of sold) opened.push({ ...product, ...(await openSold(product, parts, samples)) })
  const endpoints: readonly Endpoint[] = opened
  return {
    endpoints,
    async close() {
      await Promise.all(opened.map((product) => product.close()))
    },
  }
}

async function openSold(product: BuiltinProduct, parts: Parts, samples: Parts | undefined): Promise<OpenProduct> {
  const provided = await product.open(parts)
  if (product.providers.length === 0) return provided
  if (parts.data.sampleUpstreams) return ofSamples(provided)
  return samples === undefined ? provided : withStandIn(provided, ofSamples(await product.open(samples)))
}

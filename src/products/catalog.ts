import { aiChat } from './chat/aiChat.ts'
import type { ChatDeps } from './chat/chatTurn.ts'
import { chatCompletions } from './chat/chatCompletions.ts'
import { crypto } from './crypto/crypto.ts'
import type { Endpoint } from '../product/endpoint.ts'
import { news, type NewsDeps } from './news/news.ts'
import { pdf } from './page/pdf.ts'
import type { OpenProduct, ProductDefinition } from '../product/productDefinition.ts'
import type { ProviderDeps } from '../sourcing/provider.ts'
import { qrcode } from './qrcode/qrcode.ts'
import type { RenderDeps } from './page/renderOutcome.ts'
import { screenshot } from './page/screenshot.ts'
import { ofSamples, withStandIn } from '../sourcing/standIn.ts'
import { stock } from './stock/stock.ts'
import { weather } from './weather/weather.ts'

export type CatalogDeps = ProviderDeps & RenderDeps & ChatDeps & NewsDeps

/** All products for sale, in the order of the price list. To add a product, add its name here. */
export const products: readonly ProductDefinition<CatalogDeps>[] = [
  crypto,
  weather,
  stock,
  news,
  qrcode,
  screenshot,
  pdf,
  aiChat,
  chatCompletions,
]

/** The products that this process sells, and a method that closes all of them. */
export interface Catalog {
  readonly endpoints: readonly Endpoint[]
  close(): Promise<void>
}

/**
 * Opens all products. With `samples`, which only local mode has, a product uses samples while none of its providers
 * answers.
 */
export function openCatalog(
  sold: readonly ProductDefinition<CatalogDeps>[],
  deps: CatalogDeps,
  samples?: CatalogDeps,
): Catalog {
  const opened = sold.map((definition) => ({ ...definition, ...openSold(definition, deps, samples) }))
  return {
    endpoints: opened,
    async close() {
      await Promise.all(opened.map((product) => product.close()))
    },
  }
}

function openSold(
  definition: ProductDefinition<CatalogDeps>,
  deps: CatalogDeps,
  samples: CatalogDeps | undefined,
): OpenProduct {
  if (definition.providers.length === 0) return definition.open(deps)
  if (deps.sampleUpstreams) return ofSamples(definition.open(deps))
  const provided = definition.open(deps)
  return samples === undefined ? provided : withStandIn(provided, ofSamples(definition.open(samples)))
}

import { createAiChat } from './aiChat.ts'
import { createCrypto } from './crypto.ts'
import type { Endpoint } from './endpoint.ts'
import { createNews } from './news.ts'
import type { ProviderDeps } from './providers/provider.ts'
import { createPdf } from './pdf.ts'
import type { RenderDeps } from './renderOutcome.ts'
import { createQrcode } from './qrcode.ts'
import { createQrPool } from './qrPool.ts'
import { createScreenshot } from './screenshot.ts'
import { createStock } from './stock.ts'
import { createWeather } from './weather.ts'

/** Everything that is sold, and what has to be closed when the shop closes. */
export interface Catalog {
  readonly endpoints: readonly Endpoint[]
  close(): Promise<void>
}

export type CatalogDeps = ProviderDeps & RenderDeps

export function createCatalog(deps: CatalogDeps): Catalog {
  const { clock } = deps
  const pool = createQrPool()
  return {
    endpoints: [
      createCrypto(),
      createWeather(),
      createStock(),
      createNews(),
      createQrcode({ pool, clock }),
      createScreenshot(deps),
      createPdf(deps),
      createAiChat(),
    ],
    close: () => pool.close(),
  }
}

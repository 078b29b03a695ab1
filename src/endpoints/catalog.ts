import type { ChatServer } from '../outbound/chatServer.ts'
import { createAiChat } from './aiChat.ts'
import { createCrypto } from './crypto.ts'
import type { Endpoint } from './endpoint.ts'
import { createNews } from './news.ts'
import type { NewsDesk } from './newsDesk.ts'
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

export interface CatalogDeps extends ProviderDeps, RenderDeps {
  readonly chatServers: readonly ChatServer[]
  readonly newsDesk: NewsDesk
}

export function createCatalog(deps: CatalogDeps): Catalog {
  const { clock, newsDesk, sampleUpstreams } = deps
  const pool = createQrPool()
  return {
    endpoints: [
      createCrypto(deps),
      createWeather(deps),
      createStock(deps),
      createNews({ clock, desk: newsDesk, sampleUpstreams }),
      createQrcode({ pool, clock }),
      createScreenshot(deps),
      createPdf(deps),
      createAiChat(deps),
    ],
    close: () => pool.close(),
  }
}

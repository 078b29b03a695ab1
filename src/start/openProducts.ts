import type { ProductSettings } from '../config/productSettings.ts'
import { createCatalog } from '../endpoints/catalog.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { artifactRoute } from '../http/artifactRoute.ts'
import type { FreeRoute } from '../http/freeRoutes.ts'
import { openEgress } from '../outbound/browser/openEgress.ts'
import { openRenderer } from '../outbound/browser/openRenderer.ts'
import type { ChatServer } from '../outbound/chatServer.ts'
import { openArtifacts } from './openArtifacts.ts'
import type { LedgerPart } from './openLedger.ts'
import { openNews } from './openNews.ts'
import type { Providers } from './openProviders.ts'
import type { PartDeps } from './partDeps.ts'

export interface ProductsDeps extends PartDeps {
  readonly providers: Providers
  readonly ledger: Pick<LedgerPart, 'openNews'>
  /** Where callers reach this service. Read when an artifact is stored, because the port is known last. */
  readonly publicUrl: () => string
}

export interface Products {
  readonly endpoints: readonly Endpoint[]
  readonly routes: readonly FreeRoute[]
  close(): Promise<void>
}

/** The products, with their models, browser and storage. */
export async function openProducts(settings: ProductSettings, deps: ProductsDeps): Promise<Products> {
  const { clock, log, providers, ledger, publicUrl } = deps
  const { render } = settings
  await using opened = new AsyncDisposableStack()
  const artifacts = await openArtifacts(settings.artifacts, deps)
  opened.defer(() => artifacts.close())
  const renderer = await openRenderer({ ...render, clock, log, egress: openEgress(render) })
  opened.defer(() => renderer.close())
  const store = ledger.openNews({ isSample: providers.data.sampleUpstreams })
  const news = openNews(settings, { ...deps, store })
  opened.defer(() => news.close())
  const catalog = createCatalog({
    ...providers.data,
    newsDesk: news.search,
    chatServers: openChatServers(settings, providers),
    renderer,
    artifacts,
    artifactUrl: (name) => `${publicUrl()}/artifacts/${name}`,
    allowHosts: render.allowHosts,
  })
  opened.defer(() => catalog.close())
  const kept = opened.move()
  return {
    endpoints: catalog.endpoints,
    routes: [artifactRoute(artifacts, clock)],
    close: () => kept.disposeAsync(),
  }
}

/** Chat servers share nine tenths of a handler's time, so that the last one can also fail with our message in time. */
function openChatServers(settings: ProductSettings, providers: Providers): readonly ChatServer[] {
  const { aiServers, aiOutputTokensMax: outputTokensMax, handlerTimeoutMs } = settings
  const timeoutMs = Math.floor((handlerTimeoutMs * 0.9) / Math.max(1, aiServers.length))
  return aiServers.map((server, index) =>
    providers.openChatServer({ ...server, label: `ai-${index + 1}`, outputTokensMax, timeoutMs }),
  )
}

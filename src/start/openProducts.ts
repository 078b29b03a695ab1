import type { DeliverySettings } from '../config/deliverySettings.ts'
import { openCatalog } from '../endpoints/catalog.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { artifactRoute } from '../http/artifactRoute.ts'
import type { FreeRoute, HealthCheck } from '../http/freeRoutes.ts'
import { openEgress } from '../outbound/browser/openEgress.ts'
import { openRenderer } from '../outbound/browser/openRenderer.ts'
import { close } from './closePart.ts'
import { openArtifacts } from './openArtifacts.ts'
import type { LedgerPart } from './openLedger.ts'
import { openNews } from './openNews.ts'
import type { Providers } from './openProviders.ts'
import type { PartDeps } from './partDeps.ts'
import type { SoldProducts } from './soldProducts.ts'

export interface ProductsDeps extends PartDeps {
  readonly sold: SoldProducts
  readonly providers: Providers
  readonly ledger: Pick<LedgerPart, 'openNews'>
  /** Base URL for callers. Read when an artifact is stored, because the port is known last. */
  readonly publicUrl: () => string
}

export interface Products {
  readonly endpoints: readonly Endpoint[]
  readonly routes: readonly FreeRoute[]
  readonly checks: readonly HealthCheck[]
  close(): Promise<void>
}

/** The products, with their models, browser and storage. */
export async function openProducts(settings: DeliverySettings, deps: ProductsDeps): Promise<Products> {
  const { clock, log, sold, providers, ledger, publicUrl } = deps
  const { render } = settings
  await using opened = new AsyncDisposableStack()
  const artifacts = opened.adopt(await openArtifacts(settings.artifacts, deps), close)
  const renderer = opened.adopt(await openRenderer({ ...render, clock, log, egress: openEgress(render) }), close)
  const store = ledger.openNews({ isSample: providers.data.sampleUpstreams })
  const news = opened.adopt(openNews(settings, { ...deps, store }), close)
  const catalog = openCatalog(sold, {
    ...providers.data,
    newsSearch: news.search,
    chatServers: providers.chatServers,
    renderer,
    artifacts,
    artifactUrl: (name) => `${publicUrl()}/artifacts/${name}`,
    allowHosts: renderer.allowHosts,
  })
  opened.defer(() => catalog.close())
  const stored = opened.move()
  return {
    endpoints: catalog.endpoints,
    routes: [artifactRoute(artifacts, clock)],
    checks: render.concurrency === 0 ? [] : [{ name: 'rendering', problem: renderer.problem, someProductsOnly: true }],
    close: () => stored.disposeAsync(),
  }
}

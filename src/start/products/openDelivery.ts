import type { DeliveryConfig } from '../../config/deliveryConfig.ts'
import { type CatalogDeps, openCatalog } from '../../products/catalog.ts'
import type { Endpoint } from '../../product/endpoint.ts'
import { artifactRoute } from '../../routes/artifactRoute.ts'
import type { FreeSearch } from '../../product/freeSearch.ts'
import { modelsOf } from '../../products/chat/chatTurn.ts'
import { chatCompletions } from '../../products/chat/chatCompletions.ts'
import { openAiError } from '../../products/chat/openAiForm.ts'
import { searches } from '../../products/searches.ts'
import { createModelRoutes } from '../../routes/modelRoutes.ts'
import { createSearchRoutes } from '../../routes/searchRoutes.ts'
import type { FreeRoute, HealthCheck } from '../../transport/freeRoute.ts'
import { openRenderer, type RenderAttempt } from '../../rendering/openRenderer.ts'
import { openRenderWorker } from '../../rendering/openRenderWorker.ts'
import { openSeparateEngines } from '../../rendering/separateEngines.ts'
import { closePart } from '../closePart.ts'
import { openArtifacts } from './openArtifacts.ts'
import type { LedgerPart } from '../ledger/openLedgerPart.ts'
import { openNews } from './openNews.ts'
import type { Providers } from './openProviders.ts'
import { openSupply } from './openSupply.ts'
import type { PartDeps } from '../partDeps.ts'
import type { SoldProducts } from './soldProducts.ts'

export interface DeliveryDeps extends PartDeps {
  readonly sold: SoldProducts
  readonly providers: Providers
  readonly standIns: Providers | undefined
  readonly ledger: Pick<LedgerPart, 'openNews'>
  /** Base URL for callers. Read when an artifact is stored, because the port is known only at the end of the start. */
  readonly serviceUrl: () => string
}

export interface ProductDelivery {
  readonly endpoints: readonly Endpoint[]
  readonly routes: readonly FreeRoute[]
  /** Free lookups that `routes` serve. */
  readonly searches: readonly FreeSearch[]
  readonly checks: readonly HealthCheck[]
  /** Returns the paths of the products that currently use samples. */
  sampled(): readonly string[]
  close(): Promise<void>
}

/** Opens the endpoints of the products, with their models, browser and storage. */
export async function openDelivery(config: DeliveryConfig, deps: DeliveryDeps): Promise<ProductDelivery> {
  const { clock, log, sold, providers, standIns, serviceUrl } = deps
  const { render } = config
  await using opened = new AsyncDisposableStack()
  const artifacts = opened.adopt(await openArtifacts(config.artifacts, deps), closePart)
  const { chromiumPath, allowHosts, denyHosts } = render
  const workerConfig = { chromiumPath, allowHosts: [...allowHosts], denyHosts: [...denyHosts] }
  const openEngine = () => openSeparateEngines(() => openRenderWorker({ clock, log, config: workerConfig }))
  const onAttempt = (attempt: RenderAttempt) => log.debug({ event: 'page_attempt_ended', ...attempt })
  const renderer = opened.adopt(await openRenderer({ ...render, clock, openEngine, onAttempt }), closePart)
  const needsOf = (from: Providers): CatalogDeps => ({
    ...from.data,
    newsSearch: opened.adopt(openNews(config, { ...deps, providers: from }), closePart).search,
    chatServers: from.chatServers,
    chatLimits: from.chatLimits,
    renderer,
    artifacts,
    artifactUrl: (name) => `${serviceUrl()}/artifacts/${name}`,
    allowHosts: renderer.allowHosts,
  })
  const catalog = openCatalog(sold, needsOf(providers), standIns && needsOf(standIns))
  opened.defer(() => catalog.close())
  const { endpoints } = catalog
  const supply = opened.adopt(
    await openSupply({ clock, log, endpoints, hasStandIns: standIns !== undefined }),
    closePart,
  )
  const chat = endpoints.find(({ path }) => path === chatCompletions.path)
  const models = () => modelsOf(chat?.suppliedBy() === 'samples' && standIns !== undefined ? standIns : providers)
  const stored = opened.move()
  const rendering = [
    { name: 'rendering', problem: renderer.problem, someProductsOnly: true },
    { name: 'artifacts', problem: artifacts.whyUnavailable, someProductsOnly: true },
  ]
  return {
    endpoints,
    routes: [
      artifactRoute(artifacts, clock),
      ...createSearchRoutes(searches),
      ...(chat !== undefined ? createModelRoutes({ models, errorForm: openAiError }) : []),
    ],
    searches,
    checks: [...(render.concurrency === 0 ? [] : rendering), supply.check],
    sampled: supply.sampled,
    close: () => stored.disposeAsync(),
  }
}

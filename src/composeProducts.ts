import type { Config } from './config.ts'
import { type Catalog, type CatalogDeps, openCatalog, products } from './endpoints/catalog.ts'
import { createNewsSearch, type NewsSearch } from './endpoints/newsSearch.ts'
import { createNewsSources } from './endpoints/newsSources.ts'
import type { ProductDefinition } from './endpoints/productDefinition.ts'
import type { ProviderDeps } from './endpoints/providers/provider.ts'
import { startNewsPolling } from './jobs/newsPolling.ts'
import { repeat } from './jobs/repeat.ts'
import { type ArtifactStore, createArtifactStore } from './outbound/artifacts/artifactStore.ts'
import { openDiskShelf } from './outbound/artifacts/diskShelf.ts'
import { openS3Shelf } from './outbound/artifacts/s3Shelf.ts'
import { openEgress } from './outbound/browser/openEgress.ts'
import { openRenderer } from './outbound/browser/openRenderer.ts'
import { type ChatServer, createChatServer } from './outbound/chatServer.ts'
import { createReadFeed } from './outbound/readFeed.ts'
import { createUpstream, type UpstreamDeps } from './outbound/upstream.ts'
import { type ProductSettings, selectProducts } from './pricing/priceList.ts'
import { Fault } from '@tollbook/core/fault'
import type { Database } from './store/database.ts'
import { createNewsStore } from './store/newsStore.ts'

/** The definitions of the products that this service sells. */
export type SoldProducts = readonly ProductDefinition<CatalogDeps>[]

/** The definitions at the operator's prices, without those that are off. Throws one fault that names every mistake. */
export function soldProducts(settings: ProductSettings): SoldProducts {
  const selected = selectProducts(products, settings)
  if (selected.ok) return selected.value
  throw new Fault(
    `the configuration has ${selected.problems.length} mistake(s):\n  ${selected.problems.join('\n  ')}`,
    {
      retryable: false,
    },
  )
}

export interface ProductsDeps {
  readonly sold: SoldProducts
  readonly upstreamDeps: UpstreamDeps
  readonly database: Database
  /** Where callers reach us; asked when an artifact is made, because the port is known last. */
  readonly publicUrl: () => string
}

export interface Products extends Catalog {
  readonly artifacts: ArtifactStore
}

const sweepEveryMs = 60_000

/** The products with everything they reach outside: providers, models, browsers, storage. */
export async function openProducts(config: Config, deps: ProductsDeps): Promise<Products> {
  const { upstreams, sampleUpstreams, render } = config
  const { upstreamDeps, publicUrl } = deps
  const { clock, log } = upstreamDeps
  await using opened = new AsyncDisposableStack()
  const artifacts = await openArtifacts(config, upstreamDeps, opened)
  const renderer = await openRenderer({ ...render, clock, log, egress: openEgress(render) })
  opened.defer(() => renderer.close())
  const providerDeps: ProviderDeps = {
    clock,
    log,
    upstreams,
    sampleUpstreams,
    openUpstream: (options) => createUpstream(upstreamDeps, options),
  }
  const catalog = openCatalog(deps.sold, {
    ...providerDeps,
    newsSearch: openNewsSearch(config, { ...deps, providerDeps, opened }),
    chatServers: openChatServers(config, upstreamDeps),
    renderer,
    artifacts,
    artifactUrl: (name) => `${publicUrl()}/artifacts/${name}`,
    allowHosts: render.allowHosts,
  })
  opened.defer(() => catalog.close())
  const kept = opened.move()
  return { ...catalog, artifacts, close: () => kept.disposeAsync() }
}

interface NewsOpening extends ProductsDeps {
  readonly providerDeps: ProviderDeps
  readonly opened: AsyncDisposableStack
}

function openNewsSearch(config: Config, { upstreamDeps, database, providerDeps, opened }: NewsOpening): NewsSearch {
  const { clock, log } = upstreamDeps
  const { newsFeeds, newsPolling, sampleUpstreams } = config
  const store = createNewsStore(database, { isSample: sampleUpstreams })
  const sources = createNewsSources({ ...providerDeps, newsFeeds, readFeed: createReadFeed(upstreamDeps) })
  const newsSearch = createNewsSearch({ clock, store, searchable: sources.searchable })
  const polled = newsPolling ? sources.polled : []
  const polling = startNewsPolling({ clock, log, store, sources: polled, refresh: newsSearch.refresh })
  opened.defer(() => polling.stop())
  return newsSearch
}

/** They share nine tenths of a handler's time, so that the last one too can fail in words of ours before it is up. */
function openChatServers(config: Config, deps: UpstreamDeps): readonly ChatServer[] {
  const { aiServers, aiOutputTokensMax: outputTokensMax, handlerTimeoutMs } = config
  const timeoutMs = Math.floor((handlerTimeoutMs * 0.9) / Math.max(1, aiServers.length))
  return aiServers.map((server, index) =>
    createChatServer(deps, { ...server, label: `ai-${index + 1}`, outputTokensMax, timeoutMs }),
  )
}

async function openArtifacts(
  config: Config,
  { clock, log }: UpstreamDeps,
  opened: AsyncDisposableStack,
): Promise<ArtifactStore> {
  const { s3, directory, ttlMs } = config.artifacts
  const bucket = s3 === undefined ? undefined : openS3Shelf(s3)
  if (bucket !== undefined) opened.defer(() => bucket.close())
  const shelf = bucket ?? (await openDiskShelf({ directory: directory ?? 'artifacts', nowMs: clock.nowMs }))
  const artifacts = createArtifactStore({ clock, log, shelf, ttlMs })
  const sweeping = repeat({ clock, log }, { name: 'artifacts', everyMs: sweepEveryMs, run: () => artifacts.sweep() })
  opened.defer(() => sweeping.stop())
  return artifacts
}

/** Where we are reached when the operator does not say. A host that stands for all addresses is none to fetch from. */
export function listeningUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

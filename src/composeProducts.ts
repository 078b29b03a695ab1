import type { Config } from './config.ts'
import { type Catalog, createCatalog } from './endpoints/catalog.ts'
import { type ChatServer, createChatServer } from './outbound/chatServer.ts'
import { createNewsDesk } from './endpoints/newsDesk.ts'
import { createNewsSources } from './endpoints/newsSources.ts'
import type { ProviderDeps } from './endpoints/providers/provider.ts'
import { startNewsPolling } from './jobs/newsPolling.ts'
import { createReadFeed } from './outbound/readFeed.ts'
import { createUpstream, type UpstreamDeps } from './outbound/upstream.ts'
import type { Database } from './store/database.ts'
import { createNewsStore } from './store/newsStore.ts'

export interface ProductsDeps {
  readonly upstreamDeps: UpstreamDeps
  readonly database: Database
}

/** The products with everything they reach outside: providers, browsers, storage. */
export function openProducts(config: Config, { upstreamDeps, database }: ProductsDeps): Catalog {
  const { clock, log } = upstreamDeps
  const { upstreams, sampleUpstreams, newsFeeds } = config
  const providerDeps: ProviderDeps = {
    clock,
    log,
    upstreams,
    sampleUpstreams,
    openUpstream: (options) => createUpstream(upstreamDeps, options),
  }
  const newsStore = createNewsStore(database)
  const newsSources = createNewsSources({ ...providerDeps, newsFeeds, readFeed: createReadFeed(upstreamDeps) })
  const newsDesk = createNewsDesk({ clock, store: newsStore, searchable: newsSources.searchable })
  const polling = startNewsPolling({
    clock,
    log,
    store: newsStore,
    sources: config.newsPolling ? newsSources.polled : [],
    refresh: newsDesk.refresh,
  })
  const catalog = createCatalog({ ...providerDeps, newsDesk, chatServers: openChatServers(config, upstreamDeps) })
  return {
    ...catalog,
    async close() {
      await polling.stop()
      await catalog.close()
    },
  }
}

/** They share nine tenths of a handler's time, so that the last one too can fail in words of ours before it is up. */
function openChatServers(config: Config, deps: UpstreamDeps): readonly ChatServer[] {
  const { aiServers, aiOutputTokensMax: outputTokensMax, handlerTimeoutMs } = config
  const timeoutMs = Math.floor((handlerTimeoutMs * 0.9) / Math.max(1, aiServers.length))
  return aiServers.map((server, index) =>
    createChatServer(deps, { ...server, label: `ai-${index + 1}`, outputTokensMax, timeoutMs }),
  )
}

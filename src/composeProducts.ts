import packageJson from '../package.json' with { type: 'json' }
import type { Config } from './config.ts'
import { type Catalog, createCatalog } from './endpoints/catalog.ts'
import { createNewsDesk } from './endpoints/newsDesk.ts'
import { createNewsSources } from './endpoints/newsSources.ts'
import type { ProviderDeps } from './endpoints/providers/provider.ts'
import { startNewsPolling } from './jobs/newsPolling.ts'
import { createReadFeed } from './outbound/readFeed.ts'
import { createUpstream, type UpstreamDeps } from './outbound/upstream.ts'
import type { Clock } from './primitives/clock.ts'
import type { Log } from './primitives/log.ts'
import type { Database } from './store/database.ts'
import { createNewsStore } from './store/newsStore.ts'

export interface ProductsDeps {
  readonly clock: Clock
  readonly log: Log
  readonly database: Database
  readonly onUpstreamCall: UpstreamDeps['onCall']
}

/** The products with everything they reach outside: providers, browsers, storage. */
export function openProducts(config: Config, { clock, log, database, onUpstreamCall }: ProductsDeps): Catalog {
  const { upstreams, sampleUpstreams, contact, newsFeeds } = config
  const upstreamDeps = { clock, log, contact, version: packageJson.version, onCall: onUpstreamCall }
  const providerDeps: ProviderDeps = {
    clock,
    log,
    upstreams,
    sampleUpstreams,
    openUpstream: (options) => createUpstream(upstreamDeps, options),
  }
  const newsStore = createNewsStore(database, { isSample: sampleUpstreams })
  const newsSources = createNewsSources({ ...providerDeps, newsFeeds, readFeed: createReadFeed(upstreamDeps) })
  const newsDesk = createNewsDesk({ clock, store: newsStore, searchable: newsSources.searchable })
  const polling = startNewsPolling({
    clock,
    log,
    store: newsStore,
    sources: config.newsPolling ? newsSources.polled : [],
    refresh: newsDesk.refresh,
  })
  const catalog = createCatalog({ ...providerDeps, newsDesk })
  return {
    ...catalog,
    async close() {
      await polling.stop()
      await catalog.close()
    },
  }
}

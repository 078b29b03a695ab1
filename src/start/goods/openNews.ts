import type { DeliveryConfig } from '../../config/deliveryConfig.ts'
import { createNewsSearch } from '../../products/news/newsSearch.ts'
import { createNewsSources } from '../../products/news/newsSources.ts'
import { createFeedPool } from '../../products/news/providers/feedPool.ts'
import { startNewsPolling } from '../../jobs/newsPolling.ts'
import type { LedgerPart } from '../ledger/openLedgerPart.ts'
import type { Providers } from './openProviders.ts'
import type { PartDeps } from '../partDeps.ts'

export interface NewsPartDeps extends PartDeps {
  readonly providers: Pick<Providers, 'data' | 'readFeed' | 'newsFeeds'>
  readonly ledger: Pick<LedgerPart, 'openNews'>
}

export function openNews({ newsPolling }: Pick<DeliveryConfig, 'newsPolling'>, deps: NewsPartDeps) {
  const { clock, log, providers, ledger } = deps
  const store = ledger.openNews({ isSample: providers.data.sampleUpstreams })
  const { readFeed, newsFeeds } = providers
  const feedPool = createFeedPool()
  const sources = createNewsSources({ ...providers.data, newsFeeds, readFeed, feedPool })
  const search = createNewsSearch({ clock, store, searcher: sources.searcher })
  const polled = newsPolling ? sources.polled : []
  const polling = startNewsPolling({ clock, log, store, sources: polled, refresh: search.refresh })
  return {
    search,
    async close() {
      // Stop polling first, because a poll parses its feed in the pool.
      await polling.stop()
      await feedPool.close()
    },
  }
}

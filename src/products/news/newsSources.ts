import { sha256Hex } from '@tollbook/core/digest'
import type { ReadFeed } from '../../sourcing/readFeed.ts'
import type { Article } from './articles/article.ts'
import type { NewsCategory } from './articles/newsCategory.ts'
import { attribute } from './feedTrust.ts'
import { type Feed, feedsOf, type FeedSetting } from './newsFeeds.ts'
import { createGdelt } from './providers/gdelt.ts'
import type { FeedPool } from './providers/feedPool.ts'
import { createGuardian } from './providers/guardian.ts'
import type { NewsProvider, NewsSearcher } from './providers/newsProvider.ts'
import type { ProviderDeps } from '../../sourcing/provider.ts'

export interface NewsSource {
  readonly name: string
  /** Sources with the same lane share a request rate, and pause together after a failure. */
  readonly lane: string
  readonly category: NewsCategory
  readonly provider: string
  readonly everyMs: number
  readonly spacingMs: number
  whyUnavailable(): string | undefined
  /** Throws only `UpstreamFailure`, so that the caller can tell a failed source from a bug. */
  poll(known: FeedValidators, signal: AbortSignal): Promise<PollResult>
}

/** The next poll sends these validators as a conditional request. */
export interface FeedValidators {
  readonly etag: string | undefined
  readonly lastModified: string | undefined
}

export interface PollResult extends FeedValidators {
  readonly articles: readonly Article[]
}

export interface NewsSourcesDeps extends ProviderDeps {
  readonly newsFeeds: readonly FeedSetting[]
  readonly readFeed: ReadFeed
  readonly feedPool: Pick<FeedPool, 'articlesOf'>
}

export interface NewsSources {
  readonly polled: readonly NewsSource[]
  readonly searcher: NewsSearcher
}

export function createNewsSources(deps: NewsSourcesDeps): NewsSources {
  const guardian = createGuardian(deps)
  const gdelt = createGdelt(deps)
  const providers = [gdelt, ...(guardian === undefined ? [] : [guardian])]
  const feeds = feedsOf(deps.newsFeeds, deps.sampleUpstreams)
  return {
    polled: [...feeds.map((feed, place) => feedSource(deps, feed, place)), ...providers.flatMap(providerSources)],
    searcher: gdelt,
  }
}

function providerSources(provider: NewsProvider): readonly NewsSource[] {
  return provider.categories.map((category) => ({
    ...provider,
    name: `${provider.name}/${category}`,
    lane: provider.name,
    category,
    provider: provider.name,
    async poll(_known, signal) {
      return { articles: await provider.latest(category, signal), etag: undefined, lastModified: undefined }
    },
  }))
}

// Interval between two polls of a feed. Unchanged feeds are cheap, because polls are conditional requests.
const feedEveryMs = 15 * 60 * 1000

function feedSource({ clock, readFeed, feedPool }: NewsSourcesDeps, feed: Feed, place: number): NewsSource {
  const { category, url, publisher } = feed
  // Hash the address, because it may contain a key, and the name is written to the database and the logs.
  const name = `${new URL(url).host}/${category}/${sha256Hex(url).slice(0, 12)}`
  return {
    name,
    lane: name,
    category,
    provider: 'publisher-rss',
    everyMs: feedEveryMs,
    spacingMs: 0,
    whyUnavailable: () => undefined,
    async poll({ etag, lastModified }, signal) {
      const reply = await readFeed({ url, etag, lastModified, signal })
      if (reply.kind === 'unchanged') return { articles: [], etag, lastModified }
      const order = { feed: { text: reply.text, publisher }, nowMs: clock.nowMs() }
      const articles = await feedPool.articlesOf(order, signal)
      return { ...reply, articles: articles.map((article) => attribute(feed, place, article)) }
    },
  }
}

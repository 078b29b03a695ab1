import { Fault } from '@tollbook/core/fault'
import { isNewsCategory, newsCategories, type NewsCategory } from './articles/newsCategory.ts'

export interface Feed {
  readonly category: NewsCategory
  readonly url: string
  /** Name of the publisher. Undefined: use the name in the feed. */
  readonly publisher: string | undefined
  /**
   * Further hosts of the publisher's articles. Absent: only the host of the feed, without a first label such as
   * `feeds`. Subdomains of a host count too.
   */
  readonly hosts?: readonly string[]
}

export interface FeedSetting {
  readonly category: string
  readonly url: string
}

const bbc = ['bbc.com', 'bbc.co.uk']

/*
 * Feeds that are used for categories without a feed of the operator. The terms of use differ between publishers, and
 * most are written for readers. docs/providers.md lists what to check before selling.
 */
export const ourFeeds: readonly Feed[] = [
  { category: 'general', publisher: 'BBC News', hosts: bbc, url: 'https://feeds.bbci.co.uk/news/rss.xml' },
  { category: 'general', publisher: 'NPR', url: 'https://feeds.npr.org/1001/rss.xml' },
  { category: 'world', publisher: 'BBC News', hosts: bbc, url: 'https://feeds.bbci.co.uk/news/world/rss.xml' },
  { category: 'business', publisher: 'BBC News', hosts: bbc, url: 'https://feeds.bbci.co.uk/news/business/rss.xml' },
  { category: 'tech', publisher: 'BBC News', hosts: bbc, url: 'https://feeds.bbci.co.uk/news/technology/rss.xml' },
  { category: 'tech', publisher: 'Ars Technica', url: 'https://feeds.arstechnica.com/arstechnica/index' },
  { category: 'tech', publisher: 'The Verge', url: 'https://www.theverge.com/rss/index.xml' },
  { category: 'tech', publisher: 'TechCrunch', url: 'https://techcrunch.com/feed/' },
  { category: 'crypto', publisher: 'CoinDesk', url: 'https://www.coindesk.com/arc/outboundfeeds/rss/' },
  {
    category: 'science',
    publisher: 'BBC News',
    hosts: bbc,
    url: 'https://feeds.bbci.co.uk/news/science_and_environment/rss.xml',
  },
  { category: 'science', publisher: 'NASA', url: 'https://www.nasa.gov/feed/' },
  { category: 'health', publisher: 'BBC News', hosts: bbc, url: 'https://feeds.bbci.co.uk/news/health/rss.xml' },
  {
    category: 'entertainment',
    publisher: 'BBC News',
    hosts: bbc,
    url: 'https://feeds.bbci.co.uk/news/entertainment_and_arts/rss.xml',
  },
  { category: 'sports', publisher: 'BBC Sport', hosts: bbc, url: 'https://feeds.bbci.co.uk/sport/rss.xml' },
]

/**
 * Returns the feeds to read. Our feeds serve only the categories without a feed of the operator. With sample upstreams,
 * no public feed is read. Throws a `Fault` for an unknown category.
 */
export function feedsOf(configured: readonly FeedSetting[], sampleUpstreams: boolean): readonly Feed[] {
  const theirs = configured.map(({ category, url }): Feed => {
    if (isNewsCategory(category)) return { category, url, publisher: undefined }
    throw new Fault(
      `NEWS_FEEDS names the category "${category}", which does not exist; use ${newsCategories.join(', ')}`,
      { retryable: false },
    )
  })
  if (sampleUpstreams) return theirs
  return [...theirs, ...ourFeeds.filter(({ category }) => !theirs.some((feed) => feed.category === category))]
}

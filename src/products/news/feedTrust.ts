import { type Article, hostOf } from './articles/article.ts'
import { foldWords } from './articles/foldWords.ts'
import { type Feed, ourFeeds } from './newsFeeds.ts'

// Added to the rank of an article from another site than that of its feed. Such articles rank after all articles of a
// feed's own site. The database function `news.trust` has the ranks of the other providers.
const rankOfStrangers = 1_000

/**
 * Sets the rank and the publisher of an article. Trusts an article from the feed's own site most. An article may use
 * the name of a publisher in our list only if the article is from that publisher's site.
 */
export function attribute(feed: Feed, place: number, article: Article): Article {
  const rank = isOfSite(feed, article) ? place : rankOfStrangers + place
  const name = foldWords(article.publisher)
  const known = ourFeeds.filter(({ publisher }) => publisher !== undefined && foldWords(publisher) === name)
  // Check the publisher only for the operator's feeds, because there the feed itself states the name. Feeds in our list
  // have a fixed name.
  const isClaimed = feed.publisher === undefined && known.length > 0 && !known.some((one) => isOfSite(one, article))
  return { ...article, rank, ...(isClaimed ? { publisher: hostOf(article.url) } : {}) }
}

function isOfSite({ url, hosts = [] }: Feed, article: Article): boolean {
  const host = hostOf(article.url)
  // Remove a first label such as `feeds` or `rss`, so that `feeds.example.com` matches articles on `example.com`.
  const sites = [hostOf(url).replace(/^(?:feeds?|rss)\.(?=[^.]+\.)/, ''), ...hosts]
  return sites.some((site) => host === site || host.endsWith(`.${site}`))
}

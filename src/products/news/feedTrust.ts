import { type Article, hostOf } from './articles/article.ts'
import { foldWords } from './articles/foldWords.ts'
import { type Feed, ourFeeds } from './newsFeeds.ts'

// Articles about other sites rank after all articles of a feed's own site. `news.trust` has the ranks of the other
// providers.
const rankOfStrangers = 1_000

/**
 * Ranks an article by the feed that contains it. A feed is trusted most for its own site. Otherwise feeds rank in the
 * operator's order. An article has the name of a publisher in our list only if it is from that publisher's site.
 */
export function attribute(feed: Feed, place: number, article: Article): Article {
  const rank = isOfSite(feed, article) ? place : rankOfStrangers + place
  const name = foldWords(article.publisher)
  const known = ourFeeds.filter(({ publisher }) => publisher !== undefined && foldWords(publisher) === name)
  // Check the name of a feed that names itself, as the operator's feeds may. Feeds of our list have their name from us.
  const isClaimed = feed.publisher === undefined && known.length > 0 && !known.some((one) => isOfSite(one, article))
  return { ...article, rank, ...(isClaimed ? { publisher: hostOf(article.url) } : {}) }
}

function isOfSite({ url, hosts = [] }: Feed, article: Article): boolean {
  const host = hostOf(article.url)
  // Remove a first label such as `feeds` or `rss` from the host of a feed.
  const sites = [hostOf(url).replace(/^(?:feeds?|rss)\.(?=[^.]+\.)/, ''), ...hosts]
  return sites.some((site) => host === site || host.endsWith(`.${site}`))
}

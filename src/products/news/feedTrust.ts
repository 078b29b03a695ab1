import { type Article, hostOf } from './articles/article.ts'
import { foldWords } from './articles/foldWords.ts'
import { type Feed, ourFeeds } from './newsFeeds.ts'

// Rank after all articles that feeds have of their own sites. `news.trust` has the ranks of the other providers.
const rankOfStrangers = 1_000

/**
 * Ranks an article by the feed that brought it. A feed speaks for its own site. About others, and among equals, the feed that the
 * operator names first is trusted more. The name of a publisher that we know is given to articles of its site only.
 */
export function attribute(feed: Feed, place: number, article: Article): Article {
  const rank = isOfSite(feed, article) ? place : rankOfStrangers + place
  const name = foldWords(article.publisher)
  const known = ourFeeds.filter(({ publisher }) => publisher !== undefined && foldWords(publisher) === name)
  // A feed that the operator configures names itself; ours have the name from us.
  const isClaimed = feed.publisher === undefined && known.length > 0 && !known.some((one) => isOfSite(one, article))
  return { ...article, rank, ...(isClaimed ? { publisher: hostOf(article.url) } : {}) }
}

function isOfSite({ url, hosts = [] }: Feed, article: Article): boolean {
  const host = hostOf(article.url)
  // The host of a feed without the label of a server of feeds.
  const sites = [hostOf(url).replace(/^(?:feeds?|rss)\.(?=[^.]+\.)/, ''), ...hosts]
  return sites.some((site) => host === site || host.endsWith(`.${site}`))
}

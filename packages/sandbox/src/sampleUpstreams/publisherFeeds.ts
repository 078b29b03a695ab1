import { type Article, articleCategories, articlesAt } from './articles.ts'
import { plain, type SampleProvider } from './sampleProvider.ts'

/** Serves one RSS 2.0 feed of headlines per category. */
export const publisherFeeds: SampleProvider = ({ path, nowMs }) => {
  const [, category] = /^\/([a-z]+)\/rss\.xml$/.exec(path) ?? []
  if (category === undefined || !articleCategories.includes(category))
    return plain('<html><body><h1>404</h1></body></html>', 404, 'text/html')
  const articles = articlesAt(nowMs).filter((article) => article.category === category)
  return plain(rssOf(category, articles), 200, 'text/xml; charset=utf-8')
}

export function feedsAt(origin: string) {
  return articleCategories.map((category) => ({ category, url: `${origin}/${category}/rss.xml` }))
}

function rssOf(category: string, articles: readonly Article[]): string {
  const items = articles.map(
    ({ title, url, slug, publishedMs }) =>
      `<item><title><![CDATA[${title}]]></title><description><![CDATA[It exists nowhere.]]></description>` +
      `<link>${url}?at_medium=RSS&amp;at_campaign=rss</link><guid isPermaLink="false">${slug}</guid>` +
      `<pubDate>${new Date(publishedMs).toUTCString()}</pubDate></item>`,
  )
  return [
    '<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>',
    `<title><![CDATA[Sample Gazette - ${category}]]></title><link>https://example.com/sample/${category}</link><ttl>15</ttl>`,
    ...items,
    '</channel></rss>',
  ].join('\n')
}

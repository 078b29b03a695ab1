import { articleCategories, articlesAt } from './articles.ts'
import { plain, type SampleProvider } from './sampleProvider.ts'

export const publisherFeeds: SampleProvider = ({ path, nowMs }) => {
  const [, category = ''] = path.split('/')
  const items = articlesAt(nowMs)
    .filter((article) => article.category === category)
    .map(
      ({ title, url, publishedMs }) =>
        `<item><title><![CDATA[${title}]]></title><description><![CDATA[It exists nowhere.]]></description>` +
        `<link>${url}?at_medium=RSS&amp;at_campaign=rss</link><pubDate>${new Date(publishedMs).toUTCString()}</pubDate></item>`,
    )
  const feed = `<rss version="2.0"><channel><title>Sample Gazette - ${category}</title>${items.join('\n')}</channel></rss>`
  return plain(`<?xml version="1.0" encoding="UTF-8"?>${feed}`, 200, 'text/xml; charset=utf-8')
}

export function feedsAt(origin: string) {
  return articleCategories.map((category) => ({ category, url: `${origin}/${category}/rss.xml` }))
}

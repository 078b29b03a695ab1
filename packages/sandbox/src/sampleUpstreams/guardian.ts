import { isoTime } from '@tollbook/core/clock'
import { type Article, articlesAt, mentions, wordsOf } from './articles.ts'
import { json, type SampleProvider } from './sampleProvider.ts'

/** Answers `/search?q=&section=&api-key=`. */
export const guardian: SampleProvider = ({ path, query, nowMs }) => {
  if ((query.get('api-key') ?? '') === '') return json({ message: 'Unauthorized' }, 401)
  if (path !== '/search') return json({ message: 'Not Found' }, 404)
  const words = wordsOf(query.get('q') ?? '')
  const section = query.get('section')
  const found = articlesAt(nowMs).filter(
    (article) =>
      mentions(article, { words, enough: 'all' }) &&
      (section === null || section.split('|').includes(sectionOf(article))),
  )
  const pageSize = Math.min(Number(query.get('page-size') ?? '10'), 50)
  return json({
    response: {
      status: 'ok',
      userTier: 'developer',
      total: found.length,
      startIndex: 1,
      pageSize,
      currentPage: 1,
      pages: Math.ceil(found.length / pageSize),
      orderBy: query.get('order-by') ?? 'newest',
      results: found.slice(0, pageSize).map(resultOf),
    },
  })
}

/** Sections whose names differ from our categories. */
const sections: Readonly<Record<string, string>> = {
  tech: 'technology',
  sports: 'sport',
  entertainment: 'culture',
  health: 'society',
  general: 'news',
  crypto: 'technology',
}

function sectionOf({ category }: Article): string {
  return sections[category] ?? category
}

function resultOf(article: Article) {
  const section = sectionOf(article)
  return {
    id: `${section}/sample/${article.slug}`,
    type: 'article',
    sectionId: section,
    sectionName: section.charAt(0).toUpperCase() + section.slice(1),
    webPublicationDate: `${isoTime(article.publishedMs).slice(0, 19)}Z`,
    webTitle: article.title,
    webUrl: article.url,
    apiUrl: `https://example.com/sample/api/${article.slug}`,
    isHosted: false,
    pillarId: 'pillar/news',
    pillarName: 'News',
  }
}

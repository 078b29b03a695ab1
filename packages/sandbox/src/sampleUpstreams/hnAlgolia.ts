import { isoTime } from '@tollbook/core/clock'
import { type Article, articlesAt, mentions, wordsOf } from './articles.ts'
import { json, type SampleProvider, type SampleRequest } from './sampleProvider.ts'

/** Hacker News by Algolia: `/api/v1/search_by_date`. Technology only, and every second story has no link. */
export const hnAlgolia: SampleProvider = (request) => {
  const { path, query, nowMs } = request
  if (path !== '/api/v1/search_by_date' && path !== '/api/v1/search')
    return json({ message: 'Path not found', status: 404 }, 404)
  const asked = query.get('query') ?? ''
  const words = wordsOf(asked)
  const since = sinceOf(request)
  const found = articlesAt(nowMs)
    .filter(({ category }) => category === 'tech')
    .filter((article) => mentions(article, { words, enough: 'all' }) && article.publishedMs / 1000 > since)
  const hitsPerPage = Math.min(Number(query.get('hitsPerPage') ?? '20'), 1_000)
  return json({
    exhaustive: { nbHits: true, typo: true },
    hits: found.slice(0, hitsPerPage).map((article, index) => hitOf(article, { isQuestion: index % 2 === 1, words })),
    hitsPerPage,
    nbHits: found.length,
    nbPages: Math.ceil(found.length / hitsPerPage),
    page: 0,
    params: query.toString(),
    processingTimeMS: 1,
    query: asked,
    serverTimeMS: 1,
  })
}

function sinceOf({ query }: SampleRequest): number {
  const [, seconds = '0'] = /created_at_i>=?(\d+)/.exec(query.get('numericFilters') ?? '') ?? []
  return Number(seconds)
}

interface HitDetail {
  readonly isQuestion: boolean
  readonly words: readonly string[]
}

function hitOf({ title, url, author, publishedMs }: Article, { isQuestion, words }: HitDetail) {
  const id = Math.floor(publishedMs / 1000)
  const matched =
    words.length === 0
      ? { matchLevel: 'none', matchedWords: [] }
      : { fullyHighlighted: false, matchLevel: 'full', matchedWords: words }
  return {
    _highlightResult: {
      author: { matchLevel: 'none', matchedWords: [], value: author },
      title: { ...matched, value: title },
    },
    _tags: ['story', `author_${author}`, `story_${id}`],
    author,
    children: [],
    created_at: `${isoTime(publishedMs).slice(0, 19)}Z`,
    created_at_i: id,
    num_comments: 12,
    objectID: `${id}`,
    points: 57,
    story_id: id,
    title,
    updated_at: `${isoTime(publishedMs).slice(0, 19)}Z`,
    ...(isQuestion ? { story_text: 'A sample question.' } : { url }),
  }
}

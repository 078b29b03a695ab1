import { expect, test } from 'vitest'
import { type ArticleStore, createNewsSearch, type ServedArticle } from '../../src/products/news/newsSearch.ts'
import type { NewsProvider } from '../../src/products/news/providers/newsProvider.ts'
import { shiftedClock } from '../support/shiftedClock.ts'

const clock = shiftedClock()
const summary = { categories: new Set<string>(), hasArticles: true, polledAtMs: new Map<string, number>() }
const question = { query: 'zebra crossings', limit: 10 }

const found: ServedArticle = {
  title: 'A zebra crossing',
  publisher: 'example.org',
  url: 'https://example.org/zebra',
  urlHash: '00',
  publishedAtMs: clock.nowMs(),
  provider: 'one',
  description: undefined,
  imageUrl: undefined,
  language: undefined,
  others: [],
}

const provider: NewsProvider = {
  name: 'one',
  categories: [],
  everyMs: 1,
  spacingMs: 1,
  whyUnavailable: () => undefined,
  latest: async () => [],
  search: async () => [],
}

test('a search that ends while another request reads the store is not overlooked by that request', async () => {
  const stored: ServedArticle[] = []
  const late = Promise.withResolvers<void>()
  let reads = 0
  const store: ArticleStore = {
    keep: async () => stored.push(found),
    async find() {
      const articles = [...stored]
      // The answer to the first read arrives after the other request has ended.
      if (++reads === 1) await late.promise
      return articles
    },
    summary: async () => summary,
  }
  const search = createNewsSearch({ clock, store, searchable: [provider] })
  const slow = search.find(question)
  const quick = await search.find(question)
  late.resolve()
  expect(quick.articles).toEqual([found])
  expect(await slow).toMatchObject({ articles: [found], isKnownMissing: false })
  expect(search.whyNoData(question)).toBe(undefined)
})

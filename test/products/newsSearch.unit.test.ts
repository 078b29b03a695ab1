import { expect, test } from 'vitest'
import { type ArticleStore, createNewsSearch, type ServedArticle } from '../../src/products/news/newsSearch.ts'
import type { NewsSearcher } from '../../src/products/news/providers/newsProvider.ts'
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

const searcher: NewsSearcher = { name: 'one', search: async () => [] }

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
  const search = createNewsSearch({ clock, store, searcher })
  const slow = search.find(question)
  const quick = await search.find(question)
  late.resolve()
  expect(quick.articles).toEqual([found])
  expect(await slow).toMatchObject({ articles: [found], isKnownMissing: false })
  expect(search.whyNoData(question)).toBe(undefined)
})

test('words without an article are looked for again after the next poll, or after a search that found articles', async () => {
  let polledAtMs = 1
  const stored: ServedArticle[] = []
  const store: ArticleStore = {
    keep: async ({ articles }) => articles.length,
    find: async () => stored,
    summary: async () => ({ ...summary, polledAtMs: new Map([['tech', polledAtMs]]) }),
  }
  const article = { ...found, urlKey: 'example.org/zebra', titleKey: 'a zebra crossing' }
  const searching: NewsSearcher = {
    name: 'one',
    search: async (words) => (words === 'zebra' ? [{ ...article, storyKey: '', rank: 0 }] : []),
  }
  const search = createNewsSearch({ clock, store, searcher: searching })
  await search.refresh()
  const lookFor = async () => (await search.find(question)).isKnownMissing
  expect([await lookFor(), search.whyNoData(question)]).toEqual([
    true,
    'no article about that is known; try other words',
  ])
  // A refresh without a new poll brings no article.
  await search.refresh()
  expect(search.whyNoData(question)).toBeDefined()
  polledAtMs = 2
  await search.refresh()
  expect(search.whyNoData(question)).toBe(undefined)
  expect([await lookFor(), search.whyNoData(question)]).toEqual([
    true,
    'no article about that is known; try other words',
  ])
  await search.find({ ...question, query: 'zebra' })
  expect(search.whyNoData(question)).toBe(undefined)
})

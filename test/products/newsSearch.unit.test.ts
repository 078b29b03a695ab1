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

/** A store with these articles, and a provider that counts the searches for words. */
function open(articles: readonly ServedArticle[] = []) {
  const now = { ms: Date.parse('2026-11-20T12:00:00Z') }
  const polledAtMs = new Map<string, number>()
  const searched: string[] = []
  const store: ArticleStore = {
    keep: async () => 0,
    find: async () => articles,
    summary: async () => ({ ...summary, polledAtMs }),
  }
  const counting: NewsSearcher = {
    name: 'one',
    search: async (words) => {
      searched.push(words)
      return []
    },
  }
  const search = createNewsSearch({ clock: { ...clock, nowMs: () => now.ms }, store, searcher: counting })
  return { search, searched, polledAtMs, now }
}

test('a provider is searched for the first page of words without a category, if the store has too few articles', async () => {
  const { search, searched } = open([found])
  const after = { publishedAtMs: 1, urlHash: '00' }
  await search.find({ query: 'zebra', limit: 1 })
  await search.find({ query: 'zebra', category: 'tech', limit: 2 })
  await search.find({ query: 'zebra', page: { isOldestFirst: false, after }, limit: 2 })
  await search.find({ limit: 2 })
  expect(searched).toEqual([])
  expect(await search.find({ query: 'Zebra -"crossings"', limit: 2 })).toMatchObject({ isFresh: true })
  expect(await search.find({ query: 'zebra', limit: 2 }), 'no search within 15 minutes').toMatchObject({
    isFresh: false,
  })
  expect(searched).toEqual(['zebra'])
})

test('words that one page lacks are not missing on the others', async () => {
  const { search } = open()
  expect(await search.find({ query: 'x', page: { isOldestFirst: true }, limit: 1 })).toMatchObject({
    isKnownMissing: true,
  })
  expect(search.whyNoData({ query: 'x', limit: 1 })).toBeUndefined()
  expect(await search.find({ query: 'x', limit: 1 })).toMatchObject({ isKnownMissing: true })
  expect(search.whyNoData({ query: 'x', limit: 1 })).toMatch(/try other words/)
  expect(search.whyNoData({ query: 'x', language: 'en', limit: 1 })).toBeUndefined()
})

test('an answer is as old as the last poll of its category, and nothing is sold a day after the last poll of any', async () => {
  const { search, polledAtMs, now } = open([found])
  expect(search.whyUnavailable()).toBe('no news has been gathered yet')
  polledAtMs.set('tech', now.ms - 60_000).set('world', now.ms - 1_000)
  await search.refresh()
  expect(await search.find({ category: 'tech', limit: 1 })).toMatchObject({ asOfMs: now.ms - 60_000 })
  expect(await search.find({ limit: 1 })).toMatchObject({ asOfMs: now.ms - 1_000 })
  now.ms += 24 * 3_600_000 - 1_000
  expect(search.whyUnavailable()).toBeUndefined()
  now.ms += 1
  expect(search.whyUnavailable()).toMatch(/for a day/)
})

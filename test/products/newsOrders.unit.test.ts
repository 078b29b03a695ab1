import { expect, test } from 'vitest'
import { news } from '../../src/products/news/news.ts'
import { createNewsSearch } from '../../src/products/news/newsSearch.ts'
import { openEndpoint } from '../../src/product/productDefinition.ts'
import { assert } from '@tollbook/core/assert'
import { isoTime } from '@tollbook/core/clock'
import { shiftedClock } from '../support/shiftedClock.ts'

const clock = shiftedClock()
const store = { keep: async () => 0, find: async () => [], summary: async () => summary }
const summary = { categories: new Set<string>(), hasArticles: true, polledAtMs: new Map([['tech', clock.nowMs()]]) }
const newsSearch = createNewsSearch({ clock, store, searcher: { name: 'none', search: async () => [] } })
const endpoint = openEndpoint(news, { clock, newsSearch, sampleUpstreams: false })

test.each(['!?', '\u{1f680}', '\u200b', '\ufeff', ',', '---'])('a query of no word is refused: %j', (query) => {
  expect(endpoint.read({ query })).toMatchObject({
    ok: false,
    issues: [{ path: ['query'], message: expect.stringMatching(/letter/) }],
  })
})

test.each(['\u20ac', 'C++', '5G', '北京'])('a query of letters, digits or currencies is read: %j', (query) => {
  expect(endpoint.read({ query }).ok).toBe(true)
})

const day = 24 * 60 * 60_000
test.each([
  ['from', 2 * day, /`from` is in the future/],
  ['to', -8 * day, /`to` is too early/],
])('a range of time without news is refused before the quote: %s', (field, distanceMs, message) => {
  const read = endpoint.read({ [field]: isoTime(clock.nowMs() + distanceMs) })
  assert(read.ok, 'the form is right')
  expect(read.whyNoData()).toMatch(message)
})

test('a full page names the next one, and an answer says whether a provider was searched for it', async () => {
  const found = {
    title: 'A',
    publisher: 'P',
    url: 'https://a.example/',
    publishedAtMs: 1_795_176_000_000,
    urlHash: 'a'.repeat(64),
    provider: 'gdelt',
    description: undefined,
    imageUrl: undefined,
    language: 'en',
    others: [],
  }
  const last = { ...found, publishedAtMs: 1_795_175_000_000, urlHash: 'b'.repeat(64) }
  const metaOf = async (limit: string, isFresh: boolean) => {
    const find = async () => ({ articles: [found, last], asOfMs: clock.nowMs(), isFresh, isKnownMissing: false })
    const read = openEndpoint(news, { clock, newsSearch: { ...newsSearch, find }, sampleUpstreams: true }).read({
      limit,
    })
    assert(read.ok, 'the order is valid')
    const outcome = await read.deliver({
      signal: new AbortController().signal,
      requestId: 'r',
      payer: 'p',
      payment: 'x',
    })
    assert(outcome.kind === 'delivered', 'it is delivered')
    return outcome.meta
  }
  const nextCursor = `1795175000000-${'b'.repeat(64)}`
  expect(await metaOf('2', true)).toMatchObject({
    nextCursor,
    cached: false,
    source: 'sample:gdelt',
    sources: ['gdelt'],
  })
  expect(await metaOf('3', false)).toMatchObject({ cached: true })
  expect(await metaOf('3', false)).not.toHaveProperty('nextCursor')
  expect(endpoint.read({ cursor: nextCursor }).ok).toBe(true)
})

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

import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { articleOf } from '../../src/products/news/articles/article.ts'
import { attribute } from '../../src/products/news/feedTrust.ts'
import { type Feed, feedsOf, ourFeeds } from '../../src/products/news/newsFeeds.ts'

const nowMs = Date.parse('2026-11-20T12:49:25Z')

function attributed(feed: Partial<Feed>, url: string, publisher = 'A Daily') {
  const raw = { title: 'A title', url, publisher, publishedAt: '2026-11-20T10:00:00Z' }
  const article = assertPresent(articleOf(raw, nowMs), 'the article is complete')
  return attribute({ category: 'tech', url: 'https://feeds.a.example/x', publisher: undefined, ...feed }, 3, article)
}

test.each([
  ['its own site', {}, 'https://a.example/1', 3],
  ['a part of its site', {}, 'https://www.a.example/1', 3],
  ['a site of its publisher', { hosts: ['b.example'] }, 'https://www.b.example/1', 3],
  ['another site', {}, 'https://b.example/1', 1_003],
  ['a site whose name ends like its own', {}, 'https://nota.example/1', 1_003],
  ['another site of one host', { url: 'https://evil.blogs.example/rss' }, 'https://good.blogs.example/1', 1_003],
])('an article of %s has its rank', (_what, feed, url, rank) => {
  expect(attributed(feed, url).rank).toBe(rank)
})

test('the name of a known publisher is given to its own articles only', () => {
  expect(attributed({}, 'https://www.bbc.com/news/1', 'BBC News').publisher).toBe('BBC News')
  expect(attributed({}, 'https://phish.example/1', 'bbc  NEWS').publisher).toBe('phish.example')
  expect(attributed({}, 'https://phish.example/1', 'Agency').publisher).toBe('Agency')
})

test('feeds of the operator replace ours in their category, and samples read no public feed', () => {
  const own = { category: 'tech', url: 'https://own.example/rss' }
  const feeds = feedsOf([own], false)
  expect(feeds.filter(({ category }) => category === 'tech')).toEqual([{ ...own, publisher: undefined }])
  expect(feeds.length).toBe(1 + ourFeeds.filter(({ category }) => category !== 'tech').length)
  expect(feedsOf([own], true)).toEqual([{ ...own, publisher: undefined }])
  expect(() => feedsOf([{ ...own, category: 'gossip' }], false)).toThrow('"gossip", which does not exist')
})

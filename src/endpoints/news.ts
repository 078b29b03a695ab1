import { z } from 'zod'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { newsCategories } from './articles/newsCategory.ts'
import { defineEndpoint, type Endpoint, type Meta } from './endpoint.ts'
import type { FoundNews, NewsDesk } from './newsDesk.ts'
import { characterCount, oneOf, queryInteger, text } from './text.ts'

const query = text({
  expected: '1 to 200 characters, not only spaces',
  shown: { minLength: 1, maxLength: 200 },
  test: (value) => value.trim() !== '' && characterCount(value) <= 200,
})

export interface NewsDeps {
  readonly clock: Clock
  readonly desk: NewsDesk
  /** The upstreams are the loopback samples of local mode; `meta.source` says so. */
  readonly sampleUpstreams: boolean
}

export function createNews(deps: NewsDeps): Endpoint {
  const { desk } = deps
  return defineEndpoint({
    path: '/api/data/news',
    method: 'GET',
    summary: 'News articles',
    schema: z.strictObject({
      category: oneOf(newsCategories).exactOptional(),
      query: query.exactOptional(),
      limit: queryInteger({ min: 1, max: 50, default: 10 }),
    }),
    whyUnavailable: desk.whyUnavailable,
    whyNoData: desk.whyNoData,
    async handle(question) {
      const found = await desk.find(question)
      if (found.articles.length === 0) return nothing(found)
      const articles = found.articles.map(({ title, publisher, url, publishedAtMs }) => {
        return { title, source: publisher, url, publishedAt: isoTime(publishedAtMs) }
      })
      return { kind: 'delivered', data: { articles, total: articles.length }, meta: metaOf(deps, found) }
    },
  })
}

function nothing({ isKnownMissing }: FoundNews) {
  return isKnownMissing
    ? ({
        kind: 'failed',
        code: 'NO_DATA',
        message: 'no article about that is known; repeat with other words and the same proof',
      } as const)
    : ({
        kind: 'failed',
        code: 'UPSTREAM_FAILED',
        message:
          'the store has no article about that, and not every source of news could be asked; repeat with the same proof',
      } as const)
}

function metaOf({ clock, sampleUpstreams }: NewsDeps, { articles, asOfMs, isFresh }: FoundNews): Meta {
  const sources = [...new Set(articles.map(({ provider }) => provider))].sort()
  return {
    source: `${sampleUpstreams ? 'sample:' : ''}${sources.join('+')}`,
    sources,
    asOf: isoTime(asOfMs),
    cached: !isFresh,
    ageSeconds: Math.max(0, Math.floor((clock.nowMs() - asOfMs) / 1000)),
  }
}

import { z } from 'zod'
import { type Clock, isoTime } from '@tollbook/core/clock'
import type { Failure, Meta } from '../../product/product.ts'
import { cursorOf, newsParameters, questionOf, type NewsOrder } from './newsParameters.ts'
import type { FoundNews, NewsSearch, ServedArticle, ServedMember } from './newsSearch.ts'
import { defineProduct, type ProductHandler } from '../../product/productDefinition.ts'
import type { DemoCaller } from '../../product/productFacts.ts'
import { creditMeta, creditsOf } from '../../product/providerTerms.ts'

const answer = z.object({
  articles: z.array(
    z.object({
      title: z.string(),
      source: z.string().meta({ description: 'name of the publisher' }),
      url: z.string().meta({ format: 'uri' }),
      publishedAt: z.iso.datetime(),
      description: z.string().optional().meta({ description: 'plain text, at most 500 characters' }),
      image: z.string().optional().meta({ format: 'uri', description: 'https address of a picture' }),
      language: z.string().optional().meta({ description: 'ISO 639, such as en' }),
      cluster: z
        .array(
          z.object({
            title: z.string(),
            source: z.string(),
            url: z.string().meta({ format: 'uri' }),
            publishedAt: z.iso.datetime(),
          }),
        )
        .optional()
        .meta({ description: 'articles of other publishers about the same story, the most trusted first' }),
    }),
  ),
  total: z.number().meta({ description: 'number of articles in this answer' }),
})

export const news = defineProduct({
  path: '/api/data/news',
  method: 'GET',
  summary: 'News articles',
  priceMicroUsd: 25_000n,
  parameters: newsParameters,
  answer,
  example: {
    order: { category: 'tech', limit: 3 },
    answer: {
      articles: [
        {
          title: 'A title',
          source: 'A publisher',
          url: 'https://news.example/article',
          publishedAt: '2026-11-20T12:30:00Z',
        },
      ],
      total: 1,
    },
  },
  providers: ['NEWS_FEEDS', 'GDELT', 'GUARDIAN'],
  demo: { order: () => ({ category: 'tech', limit: 3 }), check: checkDemo },
  open: openNews,
})

export interface NewsDeps {
  readonly clock: Clock
  readonly newsSearch: NewsSearch
  /** True if the upstreams are the loopback samples of local mode. `meta.source` then starts with `sample:`. */
  readonly sampleUpstreams: boolean
}

function openNews(deps: NewsDeps): ProductHandler<NewsOrder> {
  const { newsSearch } = deps
  return {
    // This product has no probes, because its sources are polled in the background.
    providersAnswer: () => newsSearch.whyUnavailable() === undefined,
    whyUnavailable: newsSearch.whyUnavailable,
    whyNoData: (order) => newsSearch.whyNoData(questionOf(order)),
    async deliver(order) {
      const found = await newsSearch.find(questionOf(order))
      if (found.articles.length === 0) return noArticle(found)
      const articles = found.articles.map(soldArticle)
      return {
        kind: 'delivered',
        data: { articles, total: articles.length },
        meta: { ...metaOf(deps, found), ...nextPageOf(order, found) },
      }
    },
  }
}

function soldArticle({ description, imageUrl: image, language, others, ...article }: ServedArticle) {
  return {
    ...soldMember(article),
    ...(description === undefined ? {} : { description }),
    ...(image === undefined ? {} : { image }),
    ...(language === undefined ? {} : { language }),
    ...(others.length === 0 ? {} : { cluster: others.map(soldMember) }),
  }
}

function soldMember({ title, publisher, url, publishedAtMs }: ServedMember) {
  return { title, source: publisher, url, publishedAt: isoTime(publishedAtMs) }
}

function nextPageOf({ limit }: NewsOrder, { articles }: FoundNews) {
  const last = articles.at(-1)
  return last === undefined || articles.length < limit ? {} : { nextCursor: cursorOf(last) }
}

function checkDemo({ articles, total }: z.infer<typeof answer>, { expect }: DemoCaller): string {
  const [first] = articles
  expect(total === articles.length, `${articles.length} articles are counted as ${total}`)
  expect(articles.length >= 1 && articles.length <= 3, `of at most 3 articles ${articles.length} came`)
  for (const { title, source, url } of articles)
    expect(title !== '' && source !== '' && URL.canParse(url), 'each article has a title, a publisher and an address')
  return `${total} articles, the first: "${first?.title}" (${first?.source}, ${first?.publishedAt})`
}

function noArticle({ isKnownMissing }: FoundNews): Failure {
  return isKnownMissing
    ? {
        kind: 'failed',
        code: 'NO_DATA',
        message: 'no article about that is known; repeat with other words and the same proof',
      }
    : {
        kind: 'failed',
        code: 'UPSTREAM_FAILED',
        message:
          'the store has no article about that, and not every provider of news could be asked; repeat with the same proof',
      }
}

function metaOf({ clock, sampleUpstreams }: NewsDeps, { articles, asOfMs, isFresh }: FoundNews): Meta {
  const members = articles.flatMap(({ provider, others }) => [provider, ...others.map((other) => other.provider)])
  const sources = [...new Set(members)].sort()
  return {
    source: `${sampleUpstreams ? 'sample:' : ''}${sources.join('+')}`,
    sources,
    asOf: isoTime(asOfMs),
    cached: !isFresh,
    ...creditMeta(creditsOf(sources)),
    ageSeconds: Math.max(0, Math.floor((clock.nowMs() - asOfMs) / 1000)),
  }
}

import { z } from 'zod'
import type { Reply } from '../../../outbound/upstreamRequest.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { type Article, articleOf } from '../articles/article.ts'
import { newsCategories, type NewsCategory } from '../articles/newsCategory.ts'
import type { NewsProvider } from './newsProvider.ts'
import { openUpstreamOf } from '../../../outbound/publicUpstream.ts'
import type { ProviderDeps } from '../../../sourcing/provider.ts'
import { readableItems, readJson, refuseStatus } from '../../../outbound/upstreamReply.ts'

const publicBase = 'https://content.guardianapis.com'
// A developer's key allows 500 requests a day and one request a second. Polling seven sections every half hour takes
// 336 requests a day.
const publicPace = { requests: 1, perSeconds: 1 }
const minute = 60 * 1000
const pageSize = '50'

const sections: Readonly<Partial<Record<NewsCategory, string>>> = {
  business: 'business',
  entertainment: 'culture',
  health: 'society',
  science: 'science',
  sports: 'sport',
  tech: 'technology',
  world: 'world',
}

/** Creates the provider. Undefined without a key, because The Guardian's API requires one. */
export function createGuardian(deps: ProviderDeps): NewsProvider | undefined {
  const key = deps.upstreams.GUARDIAN?.apiKey
  if (key === undefined) return undefined
  const upstream = openUpstreamOf(deps, 'GUARDIAN', { name: 'guardian', publicBase, pace: publicPace })
  return {
    name: 'guardian',
    categories: newsCategories.filter((category) => category in sections),
    everyMs: 30 * minute,
    spacingMs: 2_000,
    whyUnavailable: () => upstream.whyResting(),
    latest(category, signal) {
      const query = { section: sections[category] ?? '', 'order-by': 'newest', 'page-size': pageSize, 'api-key': key }
      return upstream.ask({ path: '/search', query, signal }, (reply) => readResults(reply, deps.clock.nowMs()))
    },
  }
}

const results = z.object({
  response: z.object({
    status: z.string(),
    results: readableItems(
      z.object({
        webTitle: z.string().optional(),
        webUrl: z.string().optional(),
        webPublicationDate: z.string().optional(),
      }),
    ).default([]),
  }),
})

function readResults(reply: Reply, nowMs: number): readonly Article[] {
  refuseStatus(reply)
  const { status, results: found } = readJson(reply, results).response
  if (status !== 'ok') throw new UpstreamFailure('bad_payload', 'guardian says that it is not ok')
  return found.flatMap(({ webTitle: title, webUrl: url, webPublicationDate: publishedAt }) => {
    return articleOf({ title, url, publishedAt, publisher: 'The Guardian', language: 'en' }, nowMs) ?? []
  })
}

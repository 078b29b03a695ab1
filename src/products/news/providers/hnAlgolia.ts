import { z } from 'zod'
import type { Reply } from '../../../sourcing/upstreamRequest.ts'
import { baseUrlOf } from '../../../product/upstreamName.ts'
import { type Article, articleOf, hostOf } from '../articles/article.ts'
import { cleanUrl } from '../articles/articleUrl.ts'
import type { NewsProvider } from './newsProvider.ts'
import { paceOf, type ProviderDeps, readableItems, readJson, refuseStatus } from '../../../sourcing/provider.ts'

/* Hacker News by Algolia's search: technology only, and near to real time. */

const publicBase = 'https://hn.algolia.com/api/v1'
// Limit: 10,000 an hour for each address of ours.
const publicPace = { requests: 60, perSeconds: 60 }
const hitsPerPage = '50'
// Points separate news from noise.
const pointsMin = 5
const secondsMax = 7 * 24 * 60 * 60
const minute = 60 * 1000

/** Stories of Hacker News, with at least `pointsMin` points. */
export function createHnAlgolia({ clock, upstreams, openUpstream }: ProviderDeps): NewsProvider {
  const upstream = openUpstream({
    name: 'hn-algolia',
    base: baseUrlOf(upstreams.HN_ALGOLIA, publicBase),
    pace: paceOf(upstreams.HN_ALGOLIA, publicPace),
  })
  const ask = (query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<readonly Article[]> =>
    upstream.ask({ path: '/search_by_date', query: { ...query, tags: 'story', hitsPerPage }, signal }, (reply) =>
      readHits(reply, clock.nowMs()),
    )
  const worthwhile = (): string => `created_at_i>${Math.floor(clock.nowMs() / 1000) - secondsMax},points>=${pointsMin}`
  return {
    name: 'hn-algolia',
    categories: ['tech'],
    everyMs: 5 * minute,
    spacingMs: 0,
    whyUnavailable: () => upstream.whyResting(),
    latest: (_category, signal) => ask({ query: '', numericFilters: worthwhile() }, signal),
    search: (words, signal) => ask({ query: words, numericFilters: worthwhile() }, signal),
  }
}

const hits = z.object({
  hits: readableItems(
    z.object({
      objectID: z.string(),
      title: z.string().nullish(),
      url: z.string().nullish(),
      created_at: z.string().optional(),
      points: z.number().min(pointsMin),
    }),
  ),
})

function readHits(reply: Reply, nowMs: number): readonly Article[] {
  refuseStatus(reply)
  return readJson(reply, hits).hits.flatMap(({ objectID, title, url: given, created_at: publishedAt }) => {
    // A question to readers has only its discussion as address.
    const url = given ? cleanUrl(given) : `https://news.ycombinator.com/item?id=${encodeURIComponent(objectID)}`
    return articleOf({ title: title ?? undefined, url, publishedAt, publisher: url && hostOf(url) }, nowMs) ?? []
  })
}

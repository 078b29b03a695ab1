import { z } from 'zod'
import type { Reply } from '../../../outbound/upstreamRequest.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { type Article, articleOf } from '../articles/article.ts'
import { newsCategories, type NewsCategory } from '../articles/newsCategory.ts'
import type { NewsProvider, NewsSearcher } from './newsProvider.ts'
import { openUpstreamOf } from '../../../outbound/publicUpstream.ts'
import type { ProviderDeps } from '../../../sourcing/provider.ts'
import { readableItems, readJson, refuseAccess, refuseStatus } from '../../../outbound/upstreamReply.ts'

/*
 * Search at GDELT. `seendate` is the time when GDELT first found an article. GDELT allows one request every five
 * seconds and blocks a client for minutes above that rate, so the pace here is lower.
 */

const publicBase = 'https://api.gdeltproject.org/api/v2/doc'
const publicPace = { requests: 1, perSeconds: 15 }
const penaltyMs = 60_000
// A search at GDELT takes seconds.
const timeoutMs = 10_000
const recordsMax = 50
const minute = 60 * 1000

const english = ' sourcelang:english'
const questions: Readonly<Record<NewsCategory, string>> = {
  business: '(economy OR markets OR earnings OR "central bank")',
  crypto: '(bitcoin OR ethereum OR cryptocurrency OR blockchain)',
  entertainment: '(film OR music OR television OR celebrity)',
  general: '(government OR election OR police OR court)',
  health: '(health OR hospital OR vaccine OR disease)',
  science: '(scientists OR research OR space OR climate)',
  sports: '(football OR basketball OR tennis OR olympic)',
  tech: '(technology OR software OR semiconductor OR "artificial intelligence")',
  world: '(diplomacy OR "united nations" OR war OR "foreign minister")',
}

/** Creates the provider. After a request above its limit, GDELT is not used for `penaltyMs`. */
export function createGdelt(deps: ProviderDeps): NewsProvider & NewsSearcher {
  const pauseMs = () => penaltyMs
  const upstream = openUpstreamOf(deps, 'GDELT', { name: 'gdelt', publicBase, pace: publicPace, timeoutMs, pauseMs })
  const { requests, perSeconds } = upstream.pace ?? publicPace
  const list = { mode: 'artlist', format: 'json', maxrecords: `${recordsMax}`, timespan: '1d', sort: 'datedesc' }
  const ask = (query: string, signal: AbortSignal): Promise<readonly Article[]> =>
    upstream.ask({ path: '/doc', query: { query, ...list }, signal }, (reply) =>
      readArticles(reply, deps.clock.nowMs()),
    )
  return {
    name: 'gdelt',
    categories: newsCategories,
    everyMs: 15 * minute,
    spacingMs: (perSeconds * 1000) / requests,
    whyUnavailable: () => upstream.whyResting(),
    latest: (category, signal) => ask(questions[category] + english, signal),
    search: (words, signal) => ask(words, signal),
  }
}

const artList = z.object({
  articles: readableItems(
    z.object({
      url: z.string().optional(),
      title: z.string().optional(),
      seendate: z.string().optional(),
      domain: z.string().optional(),
      language: z.string().optional(),
      socialimage: z.string().optional(),
    }),
  ).default([]),
})

function readArticles(reply: Reply, nowMs: number): readonly Article[] {
  refuseAccess(reply)
  refuseSpeech(reply)
  refuseStatus(reply)
  // Replace raw control characters, which occur in some titles and are invalid in JSON.
  const { articles } = readJson({ ...reply, text: reply.text.replaceAll(/[\p{Cc}]/gu, ' ') }, artList)
  return articles.flatMap(
    ({ url, title = '', seendate: publishedAt, domain: publisher, socialimage, language: name }) => {
      const more = { images: [socialimage], language: languageNames.get(name ?? '') }
      return articleOf({ url, title: joinPunctuation(title), publishedAt, publisher, ...more }, nowMs) ?? []
    },
  )
}

// ISO 639 codes of the languages whose English names GDELT uses. Articles in other languages have no `language`.
const codes =
  'ar bg bn ca cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv ms nl no pl pt ro ru sk sl sq sr sv ta th tr uk ur vi zh'
const names = new Intl.DisplayNames('en', { type: 'language' })
const languageNames: ReadonlyMap<string, string> = new Map(
  codes.split(' ').map((code) => [names.of(code) ?? code, code]),
)

/** Throws for an error message of GDELT, which is plain text with status 200 or 429. */
function refuseSpeech({ text }: Reply): void {
  if (/^\s*[[{]/.test(text)) return
  if (/limit requests|too many requests/i.test(text))
    throw new UpstreamFailure('rate_limited', 'gdelt asks us to be slower', { retryAfterMs: penaltyMs })
  if (/query|keyword|phrase/i.test(text) && !/<html/i.test(text))
    throw new UpstreamFailure('not_covered', 'gdelt does not take this question')
  throw new UpstreamFailure('bad_payload', 'gdelt answered in prose')
}

/**
 * Removes the spaces that GDELT inserts before and after punctuation in titles. The lookbehind keeps the time linear
 * for long space.
 */
function joinPunctuation(title: string): string {
  return title.replace(/(?<!\s)\s+([,.;:!?%)\]’])/g, '$1').replace(/([([])\s+/g, '$1')
}

import { LRUCache } from 'lru-cache'
import type { Clock } from '@tollbook/core/clock'
import { UpstreamFailure } from '../../product/upstreamFailure.ts'
import type { Article } from './articles/article.ts'
import { foldSearchQuery, readSearchWords } from './articles/foldWords.ts'
import type { NewsCategory } from './articles/newsCategory.ts'
import type { NewsSearcher } from './providers/newsProvider.ts'

/** The part of the article store that this search uses; `store/newsStore.ts` implements it. */
export interface ArticleStore {
  keep(batch: {
    readonly provider: string
    readonly question: string
    readonly articles: readonly Article[]
  }): Promise<number>
  find(question: StoreQuestion): Promise<readonly ServedArticle[]>
  summary(): Promise<ArticleSummary>
}

export interface ArticleQuestion {
  readonly category?: NewsCategory | undefined
  readonly query?: string | undefined
  /** ISO 639, such as `en`. */
  readonly language?: string | undefined
  readonly limit: number
  readonly page?: ArticlePage
}

/** A range and an order of articles by time. Absent members do not restrict. */
export interface ArticlePage {
  readonly fromMs?: number | undefined
  /** Exclusive. */
  readonly toMs?: number | undefined
  readonly isOldestFirst: boolean
  readonly after?: ArticlePosition | undefined
}

/** The position of an article in the order by time. Articles of the same moment are ordered by their hashes. */
export interface ArticlePosition {
  readonly publishedAtMs: number
  readonly urlHash: string
}

/** A question whose words are folded in the same way as those in the store. */
export interface StoreQuestion extends ArticleQuestion {
  /** Words that no returned article contains. */
  readonly excluded?: string | undefined
  /** The words that were sent to the provider. */
  readonly question?: string | undefined
}

/** The article that is shown for a story, with the other publishers of the story. */
export interface ServedArticle extends ArticlePosition, ServedMember {
  readonly description: string | undefined
  readonly imageUrl: string | undefined
  readonly language: string | undefined
  /** Other publishers of the same story, with the most trusted first. */
  readonly others: readonly ServedMember[]
}

export interface ServedMember {
  readonly title: string
  readonly publisher: string
  readonly url: string
  readonly publishedAtMs: number
  readonly provider: string
}

export interface ArticleSummary {
  readonly categories: ReadonlySet<string>
  readonly hasArticles: boolean
  readonly polledAtMs: ReadonlyMap<string, number>
}

/** Finds articles in the store, and searches at a provider if the store has too few. */
export interface NewsSearch {
  /** Reads the summary of the store. Nothing can be sold before the first call. */
  refresh(): Promise<void>
  whyUnavailable(): string | undefined
  whyNoData(question: ArticleQuestion): string | undefined
  find(question: ArticleQuestion): Promise<FoundNews>
}

/** Articles of one page, and their completeness. */
export interface FoundNews {
  readonly articles: readonly ServedArticle[]
  /** Time of the last answer of a relevant provider. */
  readonly asOfMs: number
  /** True if the provider answered a search for this request. */
  readonly isFresh: boolean
  /** True if there is no article, and the provider has answered or is not needed. */
  readonly isKnownMissing: boolean
}

export interface NewsSearchDeps {
  readonly clock: Clock
  readonly store: ArticleStore
  readonly searcher: NewsSearcher
}

// Older articles are deleted by the housekeeping job.
const retentionMs = 7 * 24 * 60 * 60 * 1000
// News counts as out of date if no provider has answered for a day.
const silenceMaxMs = 24 * 60 * 60 * 1000
// Search for the same words once per interval. Found articles stay in the store.
const searchedMs = 15 * 60 * 1000
const searchedMax = 2_000
const missingMs = 5 * 60 * 1000
const searchTimeoutMs = 12_000
// GDELT accepts at most 250 characters.
const wordsMax = 12
const wordsCharactersMax = 120

interface NewsSearchState extends NewsSearchDeps {
  /** Times of searches, keyed by their words. Concurrent equal questions share one search. */
  readonly searched: LRUCache<string, number>
  readonly missing: LRUCache<string, true>
  summary: ArticleSummary | undefined
}

/** Searches the store, and also the provider if the store may lack articles. */
export function createNewsSearch(deps: NewsSearchDeps): NewsSearch {
  const missing = new LRUCache<string, true>({ max: searchedMax, ttl: missingMs })
  const fetchMethod = (words: string) => search({ ...deps, missing }, words)
  const searched = new LRUCache<string, number>({ max: searchedMax, ttl: searchedMs, fetchMethod })
  const state: NewsSearchState = { ...deps, searched, missing, summary: undefined }
  return {
    async refresh() {
      const before = lastPollMs(state.summary)
      state.summary = await deps.store.summary()
      // Forget missing words, because the poll may have added articles with them.
      if (lastPollMs(state.summary) > before) state.missing.clear()
    },
    whyUnavailable: () => whyUnavailable(state),
    whyNoData: (question) => whyNoData(state, question),
    find: (question) => find(state, question),
  }
}

function lastPollMs(summary: ArticleSummary | undefined): number {
  return Math.max(0, ...(summary?.polledAtMs.values() ?? []))
}

function whyUnavailable({ summary, clock }: NewsSearchState): string | undefined {
  if (summary?.hasArticles !== true) return 'no news has been gathered yet'
  return clock.nowMs() - lastPollMs(summary) > silenceMaxMs ? 'no provider of news has answered for a day' : undefined
}

function whyNoData({ summary, missing, clock }: NewsSearchState, question: ArticleQuestion): string | undefined {
  const { category, query, page: { fromMs = 0, toMs = Infinity } = {} } = question
  if (fromMs > clock.nowMs()) return '`from` is in the future: no article is published later than now'
  if (toMs <= clock.nowMs() - retentionMs) return '`to` is too early: articles of the last 7 days are kept'
  if (category !== undefined && summary?.categories.has(category) === false)
    return `there is no article in the category ${category} at the moment`
  if (
    query !== undefined &&
    (wordsOf(readSearchWords(foldSearchQuery(query)).wanted) === '' || missing.has(missingKey(question)))
  )
    return 'no article about that is known; try other words'
  return undefined
}

async function find(state: NewsSearchState, question: ArticleQuestion): Promise<FoundNews> {
  const { store, clock, summary, searched, missing } = state
  const { category, query, page } = question
  const isFirstPage = page?.after === undefined
  const folded = query === undefined ? undefined : readSearchWords(foldSearchQuery(query))
  const words = folded === undefined ? undefined : wordsOf(folded.wanted)
  const asked = { ...question, query: folded?.wanted, excluded: folded?.excluded, question: words }
  // Check before reading the store: a search that ends during the read may add articles that the read misses.
  const isUnasked = words !== undefined && !searched.has(words)
  const stored = await store.find(asked)
  // Do not search at the provider within a category, because the provider does not have our categories.
  const isAsked = isUnasked && category === undefined && isFirstPage && stored.length < question.limit
  const isFresh = isAsked && (await searched.fetch(words)) !== undefined
  const articles = isFresh ? await store.find(asked) : stored
  const isKnownMissing = articles.length === 0 && isAsked === isFresh
  // Do not record an empty page as missing: other pages may have articles.
  if (isKnownMissing && words !== undefined && page === undefined) missing.set(missingKey(question), true)
  const polled = [...(summary?.polledAtMs ?? [])].filter(([of]) => category === undefined || of === category)
  const heard = [...polled.map(([, atMs]) => atMs), searched.get(words ?? '') ?? 0]
  return { articles, isFresh, isKnownMissing, asOfMs: Math.min(clock.nowMs(), Math.max(0, ...heard)) }
}

/** Searches at the provider, and returns the time; undefined if the provider did not answer. */
async function search(
  { store, clock, searcher, missing }: Omit<NewsSearchState, 'searched' | 'summary'>,
  words: string,
): Promise<number | undefined> {
  try {
    const articles = await searcher.search(words, AbortSignal.timeout(searchTimeoutMs))
    const stored = await store.keep({ provider: searcher.name, question: words, articles })
    // The new articles may also match words that were missing before.
    if (stored > 0) missing.clear()
    return clock.nowMs()
  } catch (error) {
    if (error instanceof UpstreamFailure) return undefined
    throw error
  }
}

/** Returns the words of a query without punctuation, so that callers cannot use the provider's query syntax. */
function wordsOf(query: string): string {
  const words = query.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return words.slice(0, wordsMax).join(' ').slice(0, wordsCharactersMax).trim()
}

function missingKey({ category, language, query }: ArticleQuestion): string {
  return `${category ?? ''} ${language ?? ''} ${query ?? ''}`
}

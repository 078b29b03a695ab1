import { LRUCache } from 'lru-cache'
import type { Clock } from '@tollbook/core/clock'
import { UpstreamFailure } from '../../product/upstreamFailure.ts'
import type { Article } from './articles/article.ts'
import { foldSearchQuery, readSearchWords } from './articles/foldWords.ts'
import type { NewsCategory } from './articles/newsCategory.ts'
import type { NewsSearcher } from './providers/newsProvider.ts'

/** `store/newsStore.ts` implements these methods. */
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
  /** Language code of ISO 639, such as `en`. Undefined: articles in all languages. */
  readonly language?: string | undefined
  readonly limit: number
  readonly page?: ArticlePage
}

export interface ArticlePage {
  readonly fromMs?: number | undefined
  /** End of the range, exclusive. */
  readonly toMs?: number | undefined
  readonly isOldestFirst: boolean
  readonly after?: ArticlePosition | undefined
}

/** Articles with the same time are ordered by the hash of their address. */
export interface ArticlePosition {
  readonly publishedAtMs: number
  readonly urlHash: string
}

/** The words are normalized as in the store, because they are compared with its words. */
export interface StoreQuestion extends ArticleQuestion {
  /** Words that the returned articles must not contain, joined by `or`. */
  readonly excluded?: string | undefined
  /**
   * The words in the form that is sent to the provider. The store also returns articles that a search for these words
   * found. Undefined: the question has no words.
   */
  readonly question?: string | undefined
}

export interface ServedArticle extends ArticlePosition, ServedMember {
  readonly description: string | undefined
  readonly imageUrl: string | undefined
  readonly language: string | undefined
  /** Articles of other publishers about the same story. The most trusted publisher comes first. */
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

/**
 * Answers from the store. For words without a category, the store may have too few articles for the first page. Then a
 * provider is searched first, unless it has answered the same words in the last 15 minutes.
 */
export interface NewsSearch {
  /** Reads the summary of the store. The product is unavailable until the first call has ended. */
  refresh(): Promise<void>
  whyUnavailable(): string | undefined
  whyNoData(question: ArticleQuestion): string | undefined
  find(question: ArticleQuestion): Promise<FoundNews>
}

export interface FoundNews {
  readonly articles: readonly ServedArticle[]
  /** Time of the last answer of a provider that is relevant to the question. */
  readonly asOfMs: number
  /** True if a provider was searched for this question and answered. */
  readonly isFresh: boolean
  /** True if there is no matching article, and no provider had to be searched or the searched provider answered. */
  readonly isKnownMissing: boolean
}

export interface NewsSearchDeps {
  readonly clock: Clock
  readonly store: ArticleStore
  readonly searcher: NewsSearcher
}

// Age after which the housekeeping job deletes articles.
const retentionMs = 7 * 24 * 60 * 60 * 1000
// News is unavailable if no provider has answered for a day.
const silenceMaxMs = 24 * 60 * 60 * 1000
// Interval between two searches for the same words. Articles that a search finds stay in the store.
const searchedMs = 15 * 60 * 1000
const searchedMax = 2_000
const missingMs = 5 * 60 * 1000
const searchTimeoutMs = 12_000
// Bounds of the words in a search, because GDELT accepts at most 250 characters.
const wordsMax = 12
const wordsCharactersMax = 120

interface NewsSearchState extends NewsSearchDeps {
  /** Times of past searches by their words. Concurrent questions with the same words share one search. */
  readonly searched: LRUCache<string, number>
  readonly missing: LRUCache<string, true>
  summary: ArticleSummary | undefined
}

export function createNewsSearch(deps: NewsSearchDeps): NewsSearch {
  const missing = new LRUCache<string, true>({ max: searchedMax, ttl: missingMs })
  const fetchMethod = (words: string) => search({ ...deps, missing }, words)
  const searched = new LRUCache<string, number>({ max: searchedMax, ttl: searchedMs, fetchMethod })
  const state: NewsSearchState = { ...deps, searched, missing, summary: undefined }
  return {
    async refresh() {
      const before = lastPollMs(state.summary)
      state.summary = await deps.store.summary()
      // Forget the words without results, because the poll may have added matching articles.
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
  // Check before the store is read, because the read could miss the articles of a search that ends during the read.
  const isUnasked = words !== undefined && !searched.has(words)
  const stored = await store.find(asked)
  // Search at the provider only without a category, because the provider does not have our categories.
  const isAsked = isUnasked && category === undefined && isFirstPage && stored.length < question.limit
  const isFresh = isAsked && (await searched.fetch(words)) !== undefined
  const articles = isFresh ? await store.find(asked) : stored
  const isKnownMissing = articles.length === 0 && isAsked === isFresh
  // Record missing words only for a question without a page, because other pages may have articles.
  if (isKnownMissing && words !== undefined && page === undefined) missing.set(missingKey(question), true)
  const polled = [...(summary?.polledAtMs ?? [])].filter(([of]) => category === undefined || of === category)
  const heard = [...polled.map(([, atMs]) => atMs), searched.get(words ?? '') ?? 0]
  return { articles, isFresh, isKnownMissing, asOfMs: Math.min(clock.nowMs(), Math.max(0, ...heard)) }
}

/**
 * Searches at the provider, and stores the articles. Resolves with the time of the search. Undefined if the provider
 * did not answer.
 */
async function search(
  { store, clock, searcher, missing }: Omit<NewsSearchState, 'searched' | 'summary'>,
  words: string,
): Promise<number | undefined> {
  try {
    const articles = await searcher.search(words, AbortSignal.timeout(searchTimeoutMs))
    const stored = await store.keep({ provider: searcher.name, question: words, articles })
    // Forget all words without results, because the new articles may match them.
    if (stored > 0) missing.clear()
    return clock.nowMs()
  } catch (error) {
    if (error instanceof UpstreamFailure) return undefined
    throw error
  }
}

/** Removes punctuation, so that a caller cannot use the provider's query syntax. */
function wordsOf(query: string): string {
  const words = query.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return words.slice(0, wordsMax).join(' ').slice(0, wordsCharactersMax).trim()
}

function missingKey({ category, language, query }: ArticleQuestion): string {
  return `${category ?? ''} ${language ?? ''} ${query ?? ''}`
}

import { LRUCache } from 'lru-cache'
import type { Clock } from '@tollbook/core/clock'
import { UpstreamFailure } from '../outbound/upstreamFailure.ts'
import type { Article } from './articles/article.ts'
import { foldQuestion } from './articles/foldWords.ts'
import type { NewsCategory } from './articles/newsCategory.ts'
import type { NewsProvider } from './providers/newsProvider.ts'

/** What the endpoint needs of a store of articles; `store/newsStore.ts` is one. */
export interface NewsStore {
  keep(batch: {
    readonly provider: string
    readonly question: string
    readonly articles: readonly Article[]
  }): Promise<number>
  find(question: NewsQuestion & { readonly question?: string | undefined }): Promise<readonly ServedArticle[]>
  summary(): Promise<NewsSummary>
}

export interface NewsQuestion {
  readonly category?: NewsCategory | undefined
  readonly query?: string | undefined
  readonly limit: number
}

export interface ServedArticle {
  readonly title: string
  readonly publisher: string
  readonly url: string
  readonly publishedAtMs: number
  readonly provider: string
}

export interface NewsSummary {
  readonly categories: ReadonlySet<string>
  readonly hasArticles: boolean
  readonly polledAtMs: ReadonlyMap<string, number>
}

/** What is on sale at the moment, and where it is found. */
export interface NewsSearch {
  /** Looks into the store; until it has been done once nothing is sold. */
  refresh(): Promise<void>
  whyUnavailable(): string | undefined
  whyNoData(question: NewsQuestion): string | undefined
  find(question: NewsQuestion): Promise<FoundNews>
}

export interface FoundNews {
  readonly articles: readonly ServedArticle[]
  /** When a source concerned was last heard. */
  readonly asOfMs: number
  /** A provider was asked for this very request. */
  readonly isFresh: boolean
  /** Everybody who could have it was asked: there is none. */
  readonly isKnownMissing: boolean
}

export interface NewsSearchDeps {
  readonly clock: Clock
  readonly store: NewsStore
  readonly searchable: readonly NewsProvider[]
}

// News that nobody has looked after for a day is history.
const silenceMaxMs = 24 * 60 * 60 * 1000
// A provider is asked for the same words once in so long; its articles stay in the store.
const searchedMs = 15 * 60 * 1000
const searchedMax = 2_000
const missingMs = 5 * 60 * 1000
const searchTimeoutMs = 12_000
// GDELT takes no longer question than 250 characters.
const wordsMax = 12
const wordsCharactersMax = 120

interface State extends NewsSearchDeps {
  readonly searched: LRUCache<string, number>
  readonly searching: Map<string, Promise<boolean>>
  readonly missing: LRUCache<string, true>
  summary: NewsSummary | undefined
}

export function createNewsSearch(deps: NewsSearchDeps): NewsSearch {
  const state: State = {
    ...deps,
    searched: new LRUCache({ max: searchedMax, ttl: searchedMs }),
    searching: new Map(),
    missing: new LRUCache({ max: searchedMax, ttl: missingMs }),
    summary: undefined,
  }
  return {
    async refresh() {
      state.summary = await deps.store.summary()
    },
    whyUnavailable: () => whyUnavailable(state),
    whyNoData: (question) => whyNoData(state, question),
    find: (question) => find(state, question),
  }
}

function whyUnavailable({ summary, clock }: State): string | undefined {
  if (summary?.hasArticles !== true) return 'no news has been gathered yet'
  const heardAtMs = Math.max(0, ...summary.polledAtMs.values())
  return clock.nowMs() - heardAtMs > silenceMaxMs ? 'no source of news has answered for a day' : undefined
}

function whyNoData({ summary, missing }: State, question: NewsQuestion): string | undefined {
  const { category, query } = question
  if (category !== undefined && summary?.categories.has(category) === false)
    return `there is no article in the category ${category} at the moment`
  if (query !== undefined && (wordsOf(query) === '' || missing.has(missingKey(question))))
    return 'no article about that is known; try other words'
  return undefined
}

async function find(state: State, question: NewsQuestion): Promise<FoundNews> {
  const { store, clock, summary, searched, missing } = state
  const { category, query } = question
  const words = query === undefined ? undefined : wordsOf(query)
  const asked = { ...question, query: query === undefined ? undefined : foldQuestion(query), question: words }
  const kept = await store.find(asked)
  // Providers that search know nothing of our categories, so a question within one is answered from the store.
  const mayLack = words !== undefined && category === undefined && kept.length < question.limit
  const searches = mayLack ? await Promise.all(state.searchable.map((by) => search(state, by, words))) : []
  const isFresh = searches.some((outcome) => outcome === 'asked')
  const articles = isFresh ? await store.find(asked) : kept
  const isKnownMissing = articles.length === 0 && !searches.includes('failed')
  if (isKnownMissing && words !== undefined) missing.set(missingKey(question), true)
  const polled = [...(summary?.polledAtMs ?? [])].filter(([of]) => category === undefined || of === category)
  const heard = [
    ...polled.map(([, atMs]) => atMs),
    ...state.searchable.map(({ name }) => searched.get(`${name} ${words ?? ''}`) ?? 0),
  ]
  return { articles, isFresh, isKnownMissing, asOfMs: Math.min(clock.nowMs(), Math.max(0, ...heard)) }
}

/** One question to one provider, however many ask it at once. */
async function search(state: State, provider: NewsProvider, words: string): Promise<'asked' | 'known' | 'failed'> {
  const { searched, searching } = state
  const key = `${provider.name} ${words}`
  if (searched.has(key)) return 'known'
  if (!searching.has(key) && provider.whyUnavailable() !== undefined) return 'failed'
  const answer = searching.get(key) ?? searchNow(state, provider, words)
  searching.set(key, answer)
  try {
    return (await answer) ? 'asked' : 'failed'
  } finally {
    searching.delete(key)
  }
}

async function searchNow({ store, clock, searched }: State, provider: NewsProvider, words: string): Promise<boolean> {
  try {
    const articles = (await provider.search?.(words, AbortSignal.timeout(searchTimeoutMs))) ?? []
    await store.keep({ provider: provider.name, question: words, articles })
    searched.set(`${provider.name} ${words}`, clock.nowMs())
    return true
  } catch (error) {
    if (error instanceof UpstreamFailure) return false
    throw error
  }
}

/** What is asked of a provider: bare words, so that nobody reaches the syntax of its queries. */
function wordsOf(query: string): string {
  const words = query.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return words.slice(0, wordsMax).join(' ').slice(0, wordsCharactersMax).trim()
}

function missingKey({ category, query }: NewsQuestion): string {
  return `${category ?? ''} ${query ?? ''}`
}

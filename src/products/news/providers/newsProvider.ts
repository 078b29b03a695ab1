import type { Article } from '../articles/article.ts'
import type { NewsCategory } from '../articles/newsCategory.ts'

/** One provider of articles, polled in the background. */
export interface NewsProvider {
  /** Name in `meta.source`. */
  readonly name: string
  /** Categories that can be polled. */
  readonly categories: readonly NewsCategory[]
  /** Interval between two polls of one category. */
  readonly everyMs: number
  /** Interval between two polls of any category, over all instances. */
  readonly spacingMs: number
  /** Undefined if the provider is available now; otherwise the reason. */
  whyUnavailable(): string | undefined
  /** Throws only `UpstreamFailure`. */
  latest(category: NewsCategory, signal: AbortSignal): Promise<readonly Article[]>
}

/** A provider that can search for articles. */
export interface NewsSearcher {
  readonly name: string
  /** `words` are letters and digits, separated by spaces. Throws only `UpstreamFailure`. */
  search(words: string, signal: AbortSignal): Promise<readonly Article[]>
}

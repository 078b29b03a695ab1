import type { Article } from '../articles/article.ts'
import type { NewsCategory } from '../articles/newsCategory.ts'

/** A provider of articles that is polled in the background. */
export interface NewsProvider {
  /** Name that `meta.source` contains. */
  readonly name: string
  /** Categories in which this provider has articles. */
  readonly categories: readonly NewsCategory[]
  /** Interval between two polls of the same category, in milliseconds. */
  readonly everyMs: number
  /** Minimum interval between any two polls of the provider, over all instances of the service, in milliseconds. */
  readonly spacingMs: number
  /** Returns the reason why the provider cannot be used now. Undefined: the provider is available. */
  whyUnavailable(): string | undefined
  /** Returns the newest articles of a category. Throws only `UpstreamFailure`. */
  latest(category: NewsCategory, signal: AbortSignal): Promise<readonly Article[]>
}

/** A provider that can search for articles. */
export interface NewsSearcher {
  readonly name: string
  /**
   * Searches for articles. `words` contains only letters and digits, separated by spaces. Throws only
   * `UpstreamFailure`.
   */
  search(words: string, signal: AbortSignal): Promise<readonly Article[]>
}

import type { Article } from '../articles/article.ts'
import type { NewsCategory } from '../articles/newsCategory.ts'

export interface NewsProvider {
  readonly name: string
  readonly categories: readonly NewsCategory[]
  /** Interval between two polls of the same category, in milliseconds. */
  readonly everyMs: number
  /** Minimum interval between any two polls of the provider, over all instances of the service, in milliseconds. */
  readonly spacingMs: number
  /** Undefined: the provider is available. */
  whyUnavailable(): string | undefined
  /** Throws only `UpstreamFailure`, so that the caller can tell a failed provider from a bug. */
  latest(category: NewsCategory, signal: AbortSignal): Promise<readonly Article[]>
}

export interface NewsSearcher {
  readonly name: string
  /** `words` contains only letters, marks and digits, separated by spaces. Throws only `UpstreamFailure`. */
  search(words: string, signal: AbortSignal): Promise<readonly Article[]>
}

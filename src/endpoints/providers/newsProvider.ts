import type { Article } from '../articles/article.ts'
import type { NewsCategory } from '../articles/newsCategory.ts'

/** One upstream as a source of articles, asked in the background; some also find articles for a question. */
export interface NewsProvider {
  /** As it stands in `meta.source`. */
  readonly name: string
  /** What its terms ask of us and of our callers, for docs/providers.md. */
  readonly licence: string
  /** Those it can be polled for. */
  readonly categories: readonly NewsCategory[]
  /** Between two polls of one category. */
  readonly everyMs: number
  /** Between two polls of any, over all instances. */
  readonly spacingMs: number
  /** Undefined when it can be asked now; otherwise why not. */
  whyUnavailable(): string | undefined
  /** Throws `UpstreamFailure` and nothing else that is not a bug. */
  latest(category: NewsCategory, signal: AbortSignal): Promise<readonly Article[]>
  /** `words` are letters and digits, separated by spaces. */
  search?(words: string, signal: AbortSignal): Promise<readonly Article[]>
}

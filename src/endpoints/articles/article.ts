import { foldWords } from './foldWords.ts'
import { cleanUrl, urlKeyOf } from './articleUrl.ts'
import { instantOf } from './instant.ts'
import { cleanTitle } from './cleanTitle.ts'

/** One article as it is stored. */
export interface Article {
  /** Equal for all addresses of one article. */
  readonly urlKey: string
  readonly url: string
  readonly title: string
  /** Equal for all spellings of one title. */
  readonly titleKey: string
  readonly publisher: string
  readonly publishedAtMs: number
}

/** An article as a provider describes it. */
export interface RawArticle {
  readonly title: string | undefined
  readonly url: string | undefined
  readonly publisher: string | undefined
  readonly publishedAt: string | undefined
}

// Older articles are not news and would be deleted at once.
const ageMaxMs = 7 * 24 * 60 * 60 * 1000
// Clocks differ, but an article dated tomorrow would stay at the top of the list until then.
const aheadMaxMs = 60 * 60 * 1000

/** Undefined when a field that is sold is missing or impossible. Such an item is left out and never completed by guessing. */
export function articleOf(raw: RawArticle, nowMs: number): Article | undefined {
  const url = cleanUrl(raw.url ?? '')
  const title = cleanTitle(raw.title ?? '')
  const publishedAtMs = instantOf(raw.publishedAt ?? '')
  if (url === undefined || title === '' || publishedAtMs === undefined) return undefined
  if (publishedAtMs < nowMs - ageMaxMs || publishedAtMs > nowMs + aheadMaxMs) return undefined
  const publisherName = cleanTitle(raw.publisher ?? '')
  const publisher = publisherName === '' ? hostOf(url) : publisherName
  return { urlKey: urlKeyOf(url), url, title, titleKey: titleKeyOf(title), publisher, publishedAtMs }
}

export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^www\./, '')
}

function titleKeyOf(title: string): string {
  const key = foldWords(title)
  return key === '' ? title : key
}

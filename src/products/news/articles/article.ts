import { foldWords } from './foldWords.ts'
import { cleanUrl, urlKeyOf } from './articleUrl.ts'
import { instantOf } from './instant.ts'
import { imageOf } from './articleImage.ts'
import { languageOf } from './articleLanguage.ts'
import { cleanDescription, cleanTitle } from './cleanTitle.ts'
import { storyKeyOf } from './storyWords.ts'

/** One article as it is stored. */
export interface Article {
  /** Equal for all addresses of one article. */
  readonly urlKey: string
  readonly url: string
  readonly title: string
  /** Equal for all spellings of one title. */
  readonly titleKey: string
  /** The significant words of the title: nearly the same ones are the same story. */
  readonly storyKey: string
  readonly publisher: string
  readonly publishedAtMs: number
  readonly description: string | undefined
  /** An `https` address of a public host. */
  readonly imageUrl: string | undefined
  /** ISO 639, such as `en`. */
  readonly language: string | undefined
  /** Place in the order of trust: the lower, the more trusted. Undefined: that of its provider. */
  readonly rank?: number
}

/** An article as a provider describes it. */
export interface RawArticle {
  readonly title: string | undefined
  readonly url: string | undefined
  readonly publisher: string | undefined
  readonly publishedAt: string | undefined
  /** The first one with a text is taken. */
  readonly descriptions?: readonly (string | undefined)[]
  /** The first one that is the address of a picture is taken. */
  readonly images?: readonly (string | undefined)[]
  readonly language?: string | undefined
}

// Older articles are not news and would be deleted at once.
const ageMaxMs = 7 * 24 * 60 * 60 * 1000
// Clocks differ.
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
  return {
    urlKey: urlKeyOf(url),
    url,
    title,
    titleKey: titleKeyOf(title),
    storyKey: storyKeyOf(title, publisher),
    publisher,
    // An article dated ahead would stay at the top of the list until then.
    publishedAtMs: Math.min(publishedAtMs, nowMs),
    description: descriptionOf(raw.descriptions ?? [], title),
    imageUrl: imageOf(raw.images ?? []),
    language: languageOf(raw.language),
  }
}

/** Leaves out a description that repeats the title. */
function descriptionOf(descriptions: readonly (string | undefined)[], title: string): string | undefined {
  return descriptions.map((text) => cleanDescription(text ?? '')).find((text) => text !== '' && text !== title)
}

/** The host of an article's address, without `www.`. The address must be valid. */
export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^www\./, '')
}

function titleKeyOf(title: string): string {
  const key = foldWords(title)
  return key === '' ? title : key
}

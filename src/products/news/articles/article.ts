import { foldWords } from './foldWords.ts'
import { cleanUrl, urlKeyOf } from './articleUrl.ts'
import { instantOf } from '../../../sourcing/instant.ts'
import { cleanDescription, cleanTitle } from './cleanTitle.ts'
import { storyKeyOf } from './storyWords.ts'

/** One article as it is stored. */
export interface Article {
  /** Key of the address. All addresses of one article share it. */
  readonly urlKey: string
  readonly url: string
  readonly title: string
  /** Key of the title. All spellings of one title share it. */
  readonly titleKey: string
  /** The significant words of the title. Articles with nearly the same words are about the same story. */
  readonly storyKey: string
  readonly publisher: string
  readonly publishedAtMs: number
  readonly description: string | undefined
  /** An `https` address of a public host. */
  readonly imageUrl: string | undefined
  /** ISO 639, such as `en`. */
  readonly language: string | undefined
  /** Rank of trust; a lower rank is more trusted. Undefined: use the rank of the provider. */
  readonly rank?: number
}

/** An article as a provider describes it. */
export interface RawArticle {
  readonly title: string | undefined
  readonly url: string | undefined
  readonly publisher: string | undefined
  readonly publishedAt: string | undefined
  /** Candidates for the description. The first one with text is used. */
  readonly descriptions?: readonly (string | undefined)[]
  /** Candidates for the picture. The first valid address of a picture is used. */
  readonly images?: readonly (string | undefined)[]
  readonly language?: string | undefined
}

// Refuse older articles: they are not news, and would be deleted immediately.
const ageMaxMs = 7 * 24 * 60 * 60 * 1000
// Tolerate dates up to an hour in the future, because clocks differ.
const aheadMaxMs = 60 * 60 * 1000

/**
 * Builds an article. Undefined if a sold field is missing or impossible: such an item is dropped, and missing fields
 * are never guessed.
 */
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
    // Limit the time to now: an article with a future date would stay at the top of the list until then.
    publishedAtMs: Math.min(publishedAtMs, nowMs),
    description: descriptionOf(raw.descriptions ?? [], title),
    imageUrl: imageOf(raw.images ?? []),
    language: languageOf(raw.language),
  }
}

/** Returns the first description with text that does not repeat the title. */
function descriptionOf(descriptions: readonly (string | undefined)[], title: string): string | undefined {
  return descriptions.map((text) => cleanDescription(text ?? '')).find((text) => text !== '' && text !== title)
}

/**
 * Returns the address of a picture, which is passed on and never fetched. Undefined unless it is an `https` address of
 * a public host: readers load it, so it must not point into their own network or reveal them on the way.
 */
function imageOf(candidates: readonly (string | undefined)[]): string | undefined {
  return candidates
    .map((given) => (given !== undefined && /^\s*https:/i.test(given) ? cleanUrl(given) : undefined))
    .find((image) => image !== undefined)
}

/** Returns the language of a tag such as `en-GB`: the first part in lower case. Undefined if it is not a tag. */
function languageOf(tag: string | undefined): string | undefined {
  const [, language] = /^\s*([a-z]{2,3})(?:[-_][a-z0-9]{1,8}){0,4}\s*$/i.exec(tag?.slice(0, 40) ?? '') ?? []
  return language?.toLowerCase()
}

/** The host of an article's address, without `www.`. The address must be valid. */
export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^www\./, '')
}

function titleKeyOf(title: string): string {
  const key = foldWords(title)
  return key === '' ? title : key
}

import { foldWords } from './foldWords.ts'
import { cleanUrl, urlKeyOf } from './articleUrl.ts'
import { instantOf } from '../../../sourcing/instant.ts'
import { cleanDescription, cleanTitle } from './cleanTitle.ts'
import { storyKeyOf } from './storyWords.ts'

export interface Article {
  /** Identifies the article. All variants of its address, such as with `www.`, have the same key. */
  readonly urlKey: string
  readonly url: string
  readonly title: string
  /** The title without case, accents and punctuation. */
  readonly titleKey: string
  /** The significant words of the title. Articles with nearly the same words count as the same story. */
  readonly storyKey: string
  readonly publisher: string
  readonly publishedAtMs: number
  readonly description: string | undefined
  /** An `https` address of a public host. Undefined: the article has no usable picture. */
  readonly imageUrl: string | undefined
  /** Language code of ISO 639, such as `en`. */
  readonly language: string | undefined
  /** Rank of trust. A lower number is more trusted. Absent: use the rank of the provider. */
  readonly rank?: number
}

/** An article as a provider describes it, before it is cleaned and checked. */
export interface RawArticle {
  readonly title: string | undefined
  readonly url: string | undefined
  readonly publisher: string | undefined
  readonly publishedAt: string | undefined
  /** Candidates for the description, in order of preference. The first description with text is used. */
  readonly descriptions?: readonly (string | undefined)[]
  /** Addresses of candidate pictures, in order of preference. The first valid address is used. */
  readonly images?: readonly (string | undefined)[]
  readonly language?: string | undefined
}

// Refuse articles older than 7 days, because the housekeeping job would delete them immediately.
const ageMaxMs = 7 * 24 * 60 * 60 * 1000
// Tolerate dates up to an hour in the future, because the clocks of publishers differ.
const aheadMaxMs = 60 * 60 * 1000

/**
 * Cleans and checks an article. Undefined if the address, title or time is missing or invalid, or if the time is too
 * old or too far in the future. The caller then drops the item. A missing publisher is replaced by the host of the
 * address.
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
    // Replace a future date by the current time, because otherwise the article would stay at the top of the list until
    // that date.
    publishedAtMs: Math.min(publishedAtMs, nowMs),
    description: descriptionOf(raw.descriptions ?? [], title),
    imageUrl: imageOf(raw.images ?? []),
    language: languageOf(raw.language),
  }
}

function descriptionOf(descriptions: readonly (string | undefined)[], title: string): string | undefined {
  return descriptions.map((text) => cleanDescription(text ?? '')).find((text) => text !== '' && text !== title)
}

/**
 * Uses only `https` addresses of public hosts: a reader's browser loads the picture, and must not be led into the
 * reader's own network.
 */
function imageOf(candidates: readonly (string | undefined)[]): string | undefined {
  return candidates
    .map((given) => (given !== undefined && /^\s*https:/i.test(given) ? cleanUrl(given) : undefined))
    .find((image) => image !== undefined)
}

/** Returns the language of a tag such as `en-GB`. Undefined if the text is not a language tag. */
function languageOf(tag: string | undefined): string | undefined {
  const [, language] = /^\s*([a-z]{2,3})(?:[-_][a-z0-9]{1,8}){0,4}\s*$/i.exec(tag?.slice(0, 40) ?? '') ?? []
  return language?.toLowerCase()
}

/** Returns the host without `www.`. The address must be valid. */
export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^www\./, '')
}

function titleKeyOf(title: string): string {
  const key = foldWords(title)
  return key === '' ? title : key
}

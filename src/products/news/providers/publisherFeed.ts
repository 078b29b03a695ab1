import { parseFeed } from 'feedsmith'
import { z } from 'zod'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { type Article, articleOf, type RawArticle } from '../articles/article.ts'
import { cleanTitle } from '../articles/cleanTitle.ts'
import { newsCategories } from '../articles/newsCategory.ts'
import { readableItems } from '../../../outbound/upstreamReply.ts'

export interface FeedText {
  readonly text: string
  /** Name of the publisher from our list of feeds. Undefined: use the name in the feed. */
  readonly publisher: string | undefined
}

// Maximum of items to read. A feed usually has a few dozen items, and earlier polls have read the older items.
const itemsMax = 200

/**
 * Reads the articles of a feed in RSS, Atom, RDF or JSON Feed. Drops items without a title, an address or a publication
 * time.
 */
export function articlesOfFeed({ text, publisher }: FeedText, nowMs: number): readonly Article[] {
  const { title, language, items } = readFeed(text)
  const ofFeed = publisher ?? publisherOfTitle(cleanTitle(title ?? ''))
  return items.slice(0, itemsMax).flatMap((item) => {
    const raw = { ...item, language: item.language ?? language, publisher: publisher ?? item.publisher ?? ofFeed }
    return articleOf(raw, nowMs) ?? []
  })
}

// The library does not guarantee the types of dates and similar fields. Treat an unexpected value as absent, so that
// the feed's other items stay usable.
const text = z.string().optional().catch(undefined)
/** Atom writes a text either as a string or as an object with attributes. */
const words = z
  .union([z.string(), z.object({ value: z.string() }).transform(({ value }) => value)])
  .optional()
  .catch(undefined)
const texts = z.array(z.string()).optional().catch(undefined)
const dublinCore = z.object({ dates: texts, languages: texts }).optional().catch(undefined)
const xml = z.object({ lang: text }).optional().catch(undefined)
const file = z.object({ url: text, type: text, medium: text })
const files = readableItems(file).default([])
const pictures = { thumbnails: files, contents: files }
const media = z
  .object({ ...pictures, groups: readableItems(z.object(pictures)).default([]) })
  .optional()
  .catch(undefined)

/** Returns the addresses of the pictures. Thumbnails come first, because publishers choose them for lists. */
function picturesOf(given: z.infer<typeof media>, enclosures: readonly z.infer<typeof file>[]) {
  const groups = given === undefined ? [] : [given, ...given.groups]
  return [
    ...groups.flatMap(({ thumbnails }) => thumbnails),
    ...[...groups.flatMap(({ contents }) => contents), ...enclosures].filter(isPicture),
  ].map(({ url }) => url)
}

function isPicture({ type = '', medium, url = '' }: z.infer<typeof file>): boolean {
  if (type !== '' || medium !== undefined) return type.startsWith('image/') || medium === 'image'
  return /\.(?:jpe?g|png|webp|gif|avif)(?:\?|$)/i.test(url)
}

/** Field names differ between the feed formats, and every format lacks some fields. */
const item = z
  .object({
    title: words,
    link: text,
    url: text,
    links: readableItems(z.object({ href: text, rel: text, type: text })).default([]),
    guid: z.object({ value: text, isPermaLink: z.boolean().optional() }).optional().catch(undefined),
    pubDate: text,
    published: text,
    date_published: text,
    updated: text,
    date_modified: text,
    source: z.object({ title: words }).optional().catch(undefined),
    description: text,
    summary: words,
    content: z.object({ encoded: text, value: text }).optional().catch(undefined),
    content_text: text,
    content_html: text,
    media,
    enclosures: files,
    image: text,
    banner_image: text,
    language: text,
    dc: dublinCore,
    xml,
  })
  .transform(({ link, url, links, guid, pubDate, published, date_published, dc, ...more }): RawArticle => {
    const alternate = links.find(({ rel }) => rel === undefined || rel === 'alternate')
    const permanent = guid?.isPermaLink === false ? undefined : guid?.value
    const enclosed = links.flatMap(({ rel, href, type }) =>
      rel === 'enclosure' ? [{ url: href, type, medium: undefined }] : [],
    )
    const body = more.content?.encoded ?? more.content?.value
    return {
      title: more.title,
      url: link ?? url ?? alternate?.href ?? permanent,
      publishedAt: pubDate ?? published ?? date_published ?? more.updated ?? more.date_modified ?? dc?.dates?.[0],
      publisher: more.source?.title,
      descriptions: [more.description, more.summary, body, more.content_text, more.content_html],
      images: [...picturesOf(more.media, [...more.enclosures, ...enclosed]), more.image, more.banner_image],
      language: dc?.languages?.[0] ?? more.language ?? more.xml?.lang,
    }
  })

const feed = z
  .object({
    feed: z.object({
      title: words,
      language: text,
      items: readableItems(item).default([]),
      entries: readableItems(item).default([]),
      dc: dublinCore,
      xml,
    }),
  })
  .transform(({ feed: { title, language, items, entries, dc, xml: tag } }) => ({
    title,
    language: language ?? tag?.lang ?? dc?.languages?.[0],
    items: [...items, ...entries],
  }))

/** Parses a feed. Throws for a page that is not a feed, such as a bot check, because such a page also has status 200. */
function readFeed(text: string) {
  try {
    return feed.parse(parseFeed(text))
  } catch (error) {
    throw new UpstreamFailure('bad_payload', 'no feed', { cause: error })
  }
}

const generalWords: ReadonlySet<string> = new Set([
  ...newsCategories,
  'all',
  'feed',
  'home',
  'home page',
  'latest',
  'latest news',
  'news',
  'politics',
  'rss',
  'technology',
  'top stories',
])

/** Drops the name of a section: "Example Broadcaster - Technology" becomes "Example Broadcaster". */
function publisherOfTitle(title: string): string {
  const parts = title.split(/\s+[-–—|»>:·•]\s+/).filter((part) => part !== '')
  return parts.find((part) => !generalWords.has(part.toLowerCase())) ?? title
}

import { parseFeed } from 'feedsmith'
import { z } from 'zod'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { type Article, articleOf, type RawArticle } from '../articles/article.ts'
import { cleanTitle } from '../articles/cleanTitle.ts'
import { newsCategories } from '../articles/newsCategory.ts'
import { readableItems } from '../../../sourcing/provider.ts'

export interface FeedText {
  readonly text: string
  /** The operator's or our name for the publisher. Undefined: the feed's own. */
  readonly publisher: string | undefined
}

// A feed has a few dozen items; those further down were read before.
const itemsMax = 200

/** RSS, Atom, RDF or JSON Feed. Items without a title, an address or a time of publication are left out. */
export function articlesOfFeed({ text, publisher }: FeedText, nowMs: number): readonly Article[] {
  const { title, language, items } = readFeed(text)
  const ofFeed = publisher ?? publisherOfTitle(cleanTitle(title ?? ''))
  return items.slice(0, itemsMax).flatMap((item) => {
    const raw = { ...item, language: item.language ?? language, publisher: publisher ?? item.publisher ?? ofFeed }
    return articleOf(raw, nowMs) ?? []
  })
}

// The library types dates and similar fields loosely. One odd item must not cost the others.
const text = z.string().optional().catch(undefined)
const valued = z.object({ value: text }).optional().catch(undefined)
const texts = z.array(z.string()).optional().catch(undefined)
const dublinCore = z.object({ dates: texts, languages: texts }).optional().catch(undefined)
const xml = z.object({ lang: text }).optional().catch(undefined)
const encoded = z.object({ encoded: text }).optional().catch(undefined)
const file = z.object({ url: text, type: text, medium: text })
const files = readableItems(file).default([])
const media = z
  .object({
    thumbnails: files,
    contents: files,
    groups: readableItems(z.object({ thumbnails: files, contents: files })).default([]),
  })
  .optional()
  .catch(undefined)

/** Addresses of pictures, the publisher's choice for lists first. */
function picturesOf(
  given: z.infer<typeof media>,
  enclosures: readonly z.infer<typeof file>[],
): readonly (string | undefined)[] {
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

const rssItem = z
  .object({
    title: text,
    link: text,
    guid: z.object({ value: text, isPermaLink: z.boolean().optional() }).optional().catch(undefined),
    pubDate: text,
    dc: dublinCore,
    source: z.object({ title: text }).optional().catch(undefined),
    description: text,
    content: encoded,
    media,
    enclosures: files,
    xml,
  })
  .transform(({ title, link, guid, pubDate, dc, source, ...more }): RawArticle => {
    const permanent = guid?.isPermaLink === false ? undefined : guid?.value
    return {
      title,
      url: link ?? permanent,
      publishedAt: pubDate ?? dc?.dates?.[0],
      publisher: source?.title,
      descriptions: [more.description, more.content?.encoded],
      images: picturesOf(more.media, more.enclosures),
      language: dc?.languages?.[0] ?? more.xml?.lang,
    }
  })
const atomEntry = z
  .object({
    title: valued,
    links: readableItems(z.object({ href: text, rel: text, type: text })).default([]),
    published: text,
    updated: text,
    source: z.object({ title: valued }).optional().catch(undefined),
    summary: valued,
    content: valued,
    media,
    dc: dublinCore,
    xml,
  })
  .transform(({ title, links, published, updated, source, ...more }): RawArticle => {
    const link = links.find(({ rel }) => rel === undefined || rel === 'alternate')
    const enclosures = links.flatMap(({ rel, href, type }) =>
      rel === 'enclosure' ? [{ url: href, type, medium: undefined }] : [],
    )
    return {
      title: title?.value,
      url: link?.href,
      publishedAt: published ?? updated,
      publisher: source?.title?.value,
      descriptions: [more.summary?.value, more.content?.value],
      images: picturesOf(more.media, enclosures),
      language: more.dc?.languages?.[0] ?? more.xml?.lang,
    }
  })
const rdfItem = z
  .object({ title: text, link: text, dc: dublinCore, description: text, content: encoded, media })
  .transform(({ title, link, dc, ...more }): RawArticle => {
    return {
      title,
      url: link,
      publishedAt: dc?.dates?.[0],
      publisher: undefined,
      descriptions: [more.description, more.content?.encoded],
      images: picturesOf(more.media, []),
      language: dc?.languages?.[0],
    }
  })
const jsonItem = z
  .object({
    title: text,
    url: text,
    date_published: text,
    date_modified: text,
    summary: text,
    content_text: text,
    content_html: text,
    image: text,
    banner_image: text,
    language: text,
  })
  .transform(({ title, url, date_published: published, date_modified: modified, language, ...more }): RawArticle => {
    return {
      title,
      url,
      publishedAt: published ?? modified,
      publisher: undefined,
      descriptions: [more.summary, more.content_text, more.content_html],
      images: [more.image, more.banner_image],
      language,
    }
  })

const feed = z.discriminatedUnion('format', [
  z.object({
    format: z.literal('rss'),
    feed: z.object({ title: text, language: text, items: readableItems(rssItem).default([]) }),
  }),
  z
    .object({
      format: z.literal('atom'),
      feed: z.object({ title: valued, xml, entries: readableItems(atomEntry).default([]) }),
    })
    .transform(({ format, feed: { title, xml: tag, entries } }) => ({
      format,
      feed: { title: title?.value, language: tag?.lang, items: entries },
    })),
  z
    .object({
      format: z.literal('rdf'),
      feed: z.object({ title: text, dc: dublinCore, items: readableItems(rdfItem).default([]) }),
    })
    .transform(({ format, feed: { title, dc, items } }) => ({
      format,
      feed: { title, language: dc?.languages?.[0], items },
    })),
  z.object({
    format: z.literal('json'),
    feed: z.object({ title: text, language: text, items: readableItems(jsonItem).default([]) }),
  }),
])

/** A page that checks for a human visitor comes under 200, like a feed. */
function readFeed(text: string) {
  try {
    return feed.parse(parseFeed(text)).feed
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

/** "Example Broadcaster - Technology", "Technology | Example": the part that is not the name of a section. */
function publisherOfTitle(title: string): string {
  const parts = title.split(/\s+[-–—|»>:·•]\s+/).filter((part) => part !== '')
  return parts.find((part) => !generalWords.has(part.toLowerCase())) ?? title
}

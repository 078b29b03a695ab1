import { parseFeed } from 'feedsmith'
import { z } from 'zod'
import { UpstreamFailure } from '../../outbound/upstreamFailure.ts'
import { type Article, articleOf, type RawArticle } from '../articles/article.ts'
import { cleanTitle } from '../articles/cleanTitle.ts'
import { newsCategories } from '../articles/newsCategory.ts'
import { readableItems } from './provider.ts'

export interface FeedText {
  readonly text: string
  /** The operator's or our name for the publisher. Undefined: the feed's own. */
  readonly publisher: string | undefined
}

// A feed has a few dozen items; those further down were read before.
const itemsMax = 200

/** RSS, Atom, RDF or JSON Feed. Items without a title, an address or a time of publication are left out. */
export function articlesOfFeed({ text, publisher }: FeedText, nowMs: number): readonly Article[] {
  const { title, items } = readFeed(text)
  const ofFeed = publisher ?? publisherOfTitle(cleanTitle(title ?? ''))
  return items.slice(0, itemsMax).flatMap((item) => {
    return articleOf({ ...item, publisher: publisher ?? item.publisher ?? ofFeed }, nowMs) ?? []
  })
}

// The library types dates and similar fields loosely. One odd item must not cost the others.
const text = z.string().optional().catch(undefined)
const valued = z.object({ value: text }).optional().catch(undefined)
const dublinCore = z
  .object({ dates: z.array(z.string()).optional() })
  .optional()
  .catch(undefined)

const rssItem = z
  .object({
    title: text,
    link: text,
    guid: z.object({ value: text, isPermaLink: z.boolean().optional() }).optional().catch(undefined),
    pubDate: text,
    dc: dublinCore,
    source: z.object({ title: text }).optional().catch(undefined),
  })
  .transform(({ title, link, guid, pubDate, dc, source }): RawArticle => {
    const permanent = guid?.isPermaLink === false ? undefined : guid?.value
    return { title, url: link ?? permanent, publishedAt: pubDate ?? dc?.dates?.[0], publisher: source?.title }
  })
const atomEntry = z
  .object({
    title: valued,
    links: readableItems(z.object({ href: text, rel: text })).default([]),
    published: text,
    updated: text,
    source: z.object({ title: valued }).optional().catch(undefined),
  })
  .transform(({ title, links, published, updated, source }): RawArticle => {
    const link = links.find(({ rel }) => rel === undefined || rel === 'alternate')
    return { title: title?.value, url: link?.href, publishedAt: published ?? updated, publisher: source?.title?.value }
  })
const rdfItem = z.object({ title: text, link: text, dc: dublinCore }).transform(({ title, link, dc }): RawArticle => {
  return { title, url: link, publishedAt: dc?.dates?.[0], publisher: undefined }
})
const jsonItem = z
  .object({ title: text, url: text, date_published: text, date_modified: text })
  .transform(({ title, url, date_published: published, date_modified: modified }): RawArticle => {
    return { title, url, publishedAt: published ?? modified, publisher: undefined }
  })

const feed = z.discriminatedUnion('format', [
  z.object({ format: z.literal('rss'), feed: z.object({ title: text, items: readableItems(rssItem).default([]) }) }),
  z
    .object({
      format: z.literal('atom'),
      feed: z.object({ title: valued, entries: readableItems(atomEntry).default([]) }),
    })
    .transform(({ format, feed }) => ({ format, feed: { title: feed.title?.value, items: feed.entries } })),
  z.object({ format: z.literal('rdf'), feed: z.object({ title: text, items: readableItems(rdfItem).default([]) }) }),
  z.object({ format: z.literal('json'), feed: z.object({ title: text, items: readableItems(jsonItem).default([]) }) }),
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

import { type RawBuilder, sql } from 'kysely'
import { type Database, readOrFault } from './database.ts'
import { createNewsPolls, type NewsMark, type NewsPolls, sampleMark } from './newsPolls.ts'

/**
 * Recent articles, grouped into stories, and the schedule of the polls that fetch them. News is not part of the ledger,
 * because it can be polled again.
 */
export interface NewsStore extends NewsPolls {
  keep(batch: NewsBatch): Promise<number>
  /** Returns the newest articles first, unless the page starts with the oldest. */
  find(question: NewsQuestion): Promise<readonly StoredArticle[]>
  summary(): Promise<NewsSummary>
  forgetOld(): Promise<void>
}

export interface NewsBatch {
  readonly provider: string
  /** Category of the answer, as the provider spells it. */
  readonly category?: string | undefined
  /** Feed of the articles. Only the same feed may correct an article. Default: the provider. */
  readonly feed?: string | undefined
  /** Query for which the provider returned these articles, so that the same query finds them again. */
  readonly question?: string | undefined
  readonly articles: readonly NewArticle[]
}

export interface NewArticle {
  /** Normalized address, by which duplicates are found. */
  readonly urlKey: string
  readonly url: string
  readonly title: string
  /** Normalized title, by which duplicates are found: its words in lower case, without accents and punctuation. */
  readonly titleKey: string
  readonly publisher: string
  readonly publishedAtMs: number
  /** Significant words of the title, sorted. Default: all words of `titleKey`. */
  readonly storyKey?: string
  readonly description?: string | undefined
  readonly imageUrl?: string | undefined
  readonly language?: string | undefined
  /** Rank in the order of trust: a lower rank is more trusted. Default: the rank of the provider. */
  readonly rank?: number
}

export interface StoredArticle extends StoredMember {
  readonly description: string | undefined
  readonly imageUrl: string | undefined
  readonly language: string | undefined
  /** Hash of the article's address in hexadecimal, which orders articles of the same time. */
  readonly urlHash: string
  /** Articles of other publishers about the same story, the most trusted first. */
  readonly others: readonly StoredMember[]
}

export interface StoredMember {
  readonly title: string
  readonly publisher: string
  readonly url: string
  readonly publishedAtMs: number
  readonly provider: string
}

/** An article must match every filter that is defined. */
export interface NewsQuestion {
  readonly category?: string | undefined
  /** Query in web search syntax, with its words spelled as in `titleKey`. */
  readonly query?: string | undefined
  /** Words that an article must not contain, in web search syntax. */
  readonly excluded?: string | undefined
  /** Query as it was sent to a provider. Selects the articles that the provider returned for this query. */
  readonly question?: string | undefined
  readonly language?: string | undefined
  readonly limit: number
  readonly page?: NewsPage
}

export interface NewsPage {
  readonly fromMs?: number | undefined
  /** Exclusive, unlike `fromMs`. */
  readonly toMs?: number | undefined
  readonly isOldestFirst: boolean
  /** The last article of the previous page. Absent: the page is the first one. */
  readonly after?: { readonly publishedAtMs: number; readonly urlHash: string } | undefined
}

/** Facts that decide whether news can be sold now. */
export interface NewsSummary {
  readonly categories: ReadonlySet<string>
  readonly hasArticles: boolean
  readonly polledAtMs: ReadonlyMap<string, number>
}

export interface NewsStoreOptions {
  /** True for samples, false for real news. One database may store both, and each store reads only its own articles. */
  readonly isSample: boolean
}

interface NewsStorage {
  readonly database: Database
  readonly mark: NewsMark
}

export function createNewsStore(database: Database, { isSample }: NewsStoreOptions): NewsStore {
  const storage: NewsStorage = { database, mark: isSample ? sampleMark : '' }
  return {
    keep: (batch) => keep(storage, batch),
    find: (question) => readOrFault('news', () => find(storage, question)),
    summary: () => readOrFault('news', () => summary(storage)),
    ...createNewsPolls(database, storage.mark),
    async forgetOld() {
      await sql`select news.forget_old()`.execute(database)
    },
  }
}

async function keep({ database, mark }: NewsStorage, batch: NewsBatch): Promise<number> {
  const { articles, provider, category = null, question = null, feed = provider } = batch
  if (articles.length === 0) return 0
  // Mark the keys too, so that samples and real news never share an article or a story.
  const column = <T>(value: (article: NewArticle) => T): T[] => articles.map(value)
  const { rows } = await sql<{ stored: number }>`
    select news.keep_stories(
      ${column(({ urlKey }) => mark + urlKey)}::text[], ${column(({ url }) => url)}::text[],
      ${column(({ title }) => title)}::text[], ${column(({ titleKey }) => (mark === '' ? titleKey : `${mark} ${titleKey}`))}::text[],
      ${column(({ storyKey, titleKey }) => storyKey ?? [...new Set(titleKey.split(' '))].sort().join(' '))}::text[],
      ${column(({ publisher }) => publisher)}::text[], ${column(({ description = null }) => description)}::text[],
      ${column(({ imageUrl = null }) => imageUrl)}::text[], ${column(({ language = null }) => language)}::text[],
      ${column(({ rank = null }) => rank)}::integer[], ${column(({ publishedAtMs }) => publishedAtMs)}::bigint[],
      ${mark + provider}::text, ${mark + feed}::text, ${category}::text, ${question}::text) as stored`.execute(database)
  return rows[0]?.stored ?? 0
}

/**
 * Finds the leading articles of stories. A story matches if one of its articles has the category, and one of them
 * contains the words or was returned by a provider for the query.
 */
async function find(storage: NewsStorage, question: NewsQuestion): Promise<readonly StoredArticle[]> {
  const { database, mark } = storage
  const { category, query, excluded, question: asked, language, limit, page } = question
  const isOldestFirst = page?.isOldestFirst === true
  let select = database
    .selectFrom('news.articles')
    .select(['title', 'publisher', 'url', 'published_at', 'provider', 'url_hash'])
    .select(['description', 'image_url', 'language', 'cluster'])
    .where('leads', '=', true)
    .where(ofStorage(mark, 'provider'))
    .orderBy('published_at', isOldestFirst ? 'asc' : 'desc')
    .orderBy('url_hash')
    .limit(limit)
  if (category !== undefined) select = select.where(ofStoryWith(sql`m.categories @> array[${category}::text]`))
  if (query !== undefined)
    select = select.where(
      ofStoryWith(sql`(m.words @@ (websearch_to_tsquery('english', ${query}) || websearch_to_tsquery('simple', ${query}))
        or m.found_by @> array[${asked ?? ''}::text])`),
    )
  // Apply the excluded words to articles from provider queries too, because those queries do not exclude words.
  if (excluded !== undefined)
    select = select.where(
      sql<boolean>`not words @@ (websearch_to_tsquery('english', ${excluded}) || websearch_to_tsquery('simple', ${excluded}))`,
    )
  if (language !== undefined) select = select.where('language', '=', language)
  if (page !== undefined) select = select.where(ofPage(page))
  const rows = await select.execute()
  const others = await findOthers(
    storage,
    rows.map(({ cluster }) => cluster),
  )
  return rows.map(({ cluster, url_hash: hash, description, image_url: imageUrl, language: spoken, ...row }) => ({
    ...memberOf(storage, row),
    description: description ?? undefined,
    imageUrl: imageUrl ?? undefined,
    language: spoken ?? undefined,
    urlHash: hash.toString('hex'),
    others: (others.get(cluster) ?? []).filter(({ publisher }) => publisher !== row.publisher),
  }))
}

function ofStoryWith(condition: RawBuilder<unknown>) {
  return sql<boolean>`news.articles.cluster in (select m.cluster from news.articles m where ${condition})`
}

interface MemberRow extends Pick<StoredMember, 'title' | 'publisher' | 'url' | 'provider'> {
  readonly published_at: Date
}

function memberOf({ mark }: NewsStorage, { published_at, provider, title, publisher, url }: MemberRow): StoredMember {
  return { title, publisher, url, publishedAtMs: published_at.getTime(), provider: provider.slice(mark.length) }
}

// Maximum of other articles in a story. A story that every publisher reports would have hundreds.
const othersMax = 10

/**
 * Finds one article of each other publisher of a story, up to a maximum. Excludes posts by users, because a post could
 * link anywhere under a publisher's title.
 */
async function findOthers(
  storage: NewsStorage,
  clusters: readonly string[],
): Promise<ReadonlyMap<string, readonly StoredMember[]>> {
  if (clusters.length === 0) return new Map()
  const { rows } = await sql<MemberRow & { readonly cluster: string }>`
    select n.cluster, n.title, n.publisher, n.url, n.published_at, n.provider
    from (
      select d.*, row_number() over (partition by d.cluster order by d.trust, d.fetched_at, d.url_hash) as place
      from (
        select distinct on (m.cluster, m.publisher) m.*, coalesce(m.rank, (4 - news.trust(m.provider)) * 1000) as trust
        from news.articles m
        where m.cluster = any(${clusters}::uuid[]) and not m.leads and news.trust(m.provider) > 1
        order by m.cluster, m.publisher, trust, m.fetched_at, m.url_hash
      ) d
    ) n
    where n.place <= ${othersMax}
    order by n.cluster, n.place`.execute(storage.database)
  const found = new Map<string, StoredMember[]>()
  for (const { cluster, ...row } of rows) found.set(cluster, [...(found.get(cluster) ?? []), memberOf(storage, row)])
  return found
}

function ofPage({ fromMs, toMs, isOldestFirst, after }: NewsPage) {
  const timeOf = (ms: number) => sql`to_timestamp(${ms}::float8 / 1000)`
  const conditions = [
    ...(fromMs === undefined ? [] : [sql`published_at >= ${timeOf(fromMs)}`]),
    ...(toMs === undefined ? [] : [sql`published_at < ${timeOf(toMs)}`]),
    ...(after === undefined ? [] : [isAfter(after, isOldestFirst)]),
  ]
  return conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`(${sql.join(conditions, sql` and `)})`
}

function isAfter({ publishedAtMs, urlHash }: NonNullable<NewsPage['after']>, isOldestFirst: boolean) {
  const time = sql`to_timestamp(${publishedAtMs}::float8 / 1000)`
  const later = isOldestFirst ? sql`published_at > ${time}` : sql`published_at < ${time}`
  return sql`(${later} or (published_at = ${time} and url_hash > decode(${urlHash}::text, 'hex')))`
}

function ofStorage(mark: string, column: 'provider' | 'name') {
  return sql<boolean>`starts_with(${sql.ref(column)}, ${sampleMark}) = ${mark !== ''}`
}

async function summary({ database, mark }: NewsStorage): Promise<NewsSummary> {
  const { rows } = await sql<{ category: string; filled: boolean; succeeded_at: Date | null }>`
    select p.category, max(p.succeeded_at) as succeeded_at,
      exists (select from news.articles where categories @> array[p.category] and ${ofStorage(mark, 'provider')}) as filled
    from news.polls p
    where ${ofStorage(mark, 'name')}
    group by p.category`.execute(database)
  const some = await database
    .selectFrom('news.articles')
    .select('url')
    .where(ofStorage(mark, 'provider'))
    .limit(1)
    .executeTakeFirst()
  return {
    categories: new Set(rows.filter(({ filled }) => filled).map(({ category }) => category)),
    hasArticles: some !== undefined,
    polledAtMs: new Map(
      rows.flatMap(({ category, succeeded_at: at }) => (at === null ? [] : [[category, at.getTime()] as const])),
    ),
  }
}

import { sql } from 'kysely'
import { type Database, readOrFault } from './database.ts'

export interface NewsStore {
  /** Number of new ones among them. */
  keep(batch: NewsBatch): Promise<number>
  /** The newest first. */
  find(question: NewsQuestion): Promise<readonly StoredArticle[]>
  summary(): Promise<NewsSummary>
  /** One poll that is due, reserved for us; undefined when none is. */
  takePoll(polls: readonly PollPlan[]): Promise<TakenPoll | undefined>
  pollSucceeded(done: PollDone): Promise<void>
  pollFailed(name: string): Promise<void>
  forgetOld(): Promise<void>
}

export interface NewsBatch {
  readonly provider: string
  /** The provider's own category. */
  readonly category?: string | undefined
  /** Query for which the provider returned them. */
  readonly question?: string | undefined
  readonly articles: readonly NewArticle[]
}

export interface NewArticle {
  /** The same for all addresses of one article. */
  readonly urlKey: string
  readonly url: string
  readonly title: string
  /** The same for all spellings of one title: its words in lower case, without accents and punctuation. */
  readonly titleKey: string
  readonly publisher: string
  readonly publishedAtMs: number
}

export interface StoredArticle {
  readonly title: string
  readonly publisher: string
  readonly url: string
  readonly publishedAtMs: number
  readonly provider: string
  /** In hexadecimal. */
  readonly urlHash: string
}

export interface NewsQuestion {
  readonly category?: string | undefined
  /** In the syntax of a web search, its words spelled as those of `titleKey`. */
  readonly query?: string | undefined
  /** Words of which an article has none, in the syntax of a web search. */
  readonly excluded?: string | undefined
  /** As it was asked of a provider; finds what the provider answered. */
  readonly question?: string | undefined
  readonly limit: number
  readonly page?: NewsPage
}

/** A range and an order of time. Absent members do not restrict. */
export interface NewsPage {
  readonly fromMs?: number | undefined
  /** Exclusive. */
  readonly toMs?: number | undefined
  readonly isOldestFirst: boolean
  /** The article before the page. */
  readonly after?: { readonly publishedAtMs: number; readonly urlHash: string } | undefined
}

export interface NewsSummary {
  /** Those that have an article. */
  readonly categories: ReadonlySet<string>
  readonly hasArticles: boolean
  /** When a poll of the category last succeeded. */
  readonly polledAtMs: ReadonlyMap<string, number>
}

export interface PollPlan {
  readonly name: string
  readonly lane: string
  readonly category: string
  /** Between two polls of one lane, over all instances. */
  readonly spacingMs: number
}

export interface TakenPoll {
  readonly name: string
  readonly etag: string | undefined
  readonly lastModified: string | undefined
}

export interface PollDone extends TakenPoll {
  readonly everyMs: number
}

export interface NewsStoreOptions {
  /** Samples and news may be kept in one database one after the other; neither is ever served as the other. */
  readonly isSample: boolean
}

// Longer than a poll may take; after it another instance may take the same poll.
const leaseMs = 60_000
const sampleMark = 'sample:'

interface NewsStorage {
  readonly database: Database
  readonly mark: '' | typeof sampleMark
}

export function createNewsStore(database: Database, { isSample }: NewsStoreOptions): NewsStore {
  const storage: NewsStorage = { database, mark: isSample ? sampleMark : '' }
  const marked = (name: string): string => storage.mark + name
  return {
    keep: (batch) => keep(storage, batch),
    find: (question) => readOrFault('news', () => find(storage, question)),
    summary: () => readOrFault('news', () => summary(storage)),
    takePoll: (polls) => takePoll(storage, polls),
    async pollSucceeded({ name, everyMs, etag = null, lastModified = null }) {
      await sql`select news.poll_succeeded(${marked(name)}, ${everyMs}, ${etag}, ${lastModified})`.execute(database)
    },
    async pollFailed(name) {
      await sql`select news.poll_failed(${marked(name)})`.execute(database)
    },
    async forgetOld() {
      await sql`select news.forget_old()`.execute(database)
    },
  }
}

async function keep({ database, mark }: NewsStorage, batch: NewsBatch): Promise<number> {
  const { articles, provider, category = null, question = null } = batch
  if (articles.length === 0) return 0
  const column = <T>(value: (article: NewArticle) => T): T[] => articles.map(value)
  const { rows } = await sql<{ stored: number }>`
    select news.keep_articles(
      ${column(({ urlKey }) => mark + urlKey)}::text[], ${column(({ url }) => url)}::text[],
      ${column(({ title }) => title)}::text[], ${column(({ titleKey }) => (mark === '' ? titleKey : `${mark} ${titleKey}`))}::text[],
      ${column(({ publisher }) => publisher)}::text[], ${column(({ publishedAtMs }) => publishedAtMs)}::bigint[],
      ${mark + provider}::text, ${category}::text, ${question}::text) as stored`.execute(database)
  return rows[0]?.stored ?? 0
}

async function find({ database, mark }: NewsStorage, question: NewsQuestion): Promise<readonly StoredArticle[]> {
  const { category, query, excluded, question: asked, limit, page } = question
  const isOldestFirst = page?.isOldestFirst === true
  let select = database
    .selectFrom('news.articles')
    .select(['title', 'publisher', 'url', 'published_at', 'provider', 'url_hash'])
    .where(ofStorage(mark, 'provider'))
    .orderBy('published_at', isOldestFirst ? 'asc' : 'desc')
    .orderBy('url_hash')
    .limit(limit)
  if (category !== undefined) select = select.where(sql<boolean>`categories @> array[${category}::text]`)
  if (query !== undefined)
    select = select.where(
      sql<boolean>`(words @@ (websearch_to_tsquery('english', ${query}) || websearch_to_tsquery('simple', ${query}))
        or found_by @> array[${asked ?? ''}::text])`,
    )
  // Also for what a provider found, because it was not asked to leave anything out.
  if (excluded !== undefined)
    select = select.where(
      sql<boolean>`not words @@ (websearch_to_tsquery('english', ${excluded}) || websearch_to_tsquery('simple', ${excluded}))`,
    )
  if (page !== undefined) select = select.where(ofPage(page))
  const rows = await select.execute()
  return rows.map(({ published_at, provider, url_hash: hash, ...row }) => ({
    ...row,
    urlHash: hash.toString('hex'),
    provider: provider.slice(mark.length),
    publishedAtMs: published_at.getTime(),
  }))
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

async function takePoll({ database, mark }: NewsStorage, polls: readonly PollPlan[]): Promise<TakenPoll | undefined> {
  const column = <T>(value: (poll: PollPlan) => T): T[] => polls.map(value)
  const { rows } = await sql<{ poll: string; poll_etag: string | null; poll_last_modified: string | null }>`
    select * from news.take_poll(
      ${column(({ name }) => mark + name)}::text[], ${column(({ lane }) => mark + lane)}::text[],
      ${column(({ category }) => category)}::text[], ${column(({ spacingMs }) => spacingMs)}::integer[], ${leaseMs})`.execute(
    database,
  )
  const [row] = rows
  if (row === undefined) return undefined
  const name = row.poll.slice(mark.length)
  return { name, etag: row.poll_etag ?? undefined, lastModified: row.poll_last_modified ?? undefined }
}

import { beforeEach, describe, expect, test } from 'vitest'
import { foldSearchQuery, foldWords, readSearchWords } from '../../src/products/news/articles/foldWords.ts'
import { silentLog } from '../../src/machine/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import type { PollPlan } from '../../src/store/newsPolls.ts'
import { createNewsStore, type NewArticle } from '../../src/store/newsStore.ts'
import { afterFile } from '../support/afterFile.ts'
import { createTestDatabase } from '../support/database.ts'
import { openSessions } from './instance.ts'

const { adminUrl, serviceUrl } = await createTestDatabase()
const admin = openSessions(adminUrl)
const instances = ['one', 'two'].map((applicationName) => {
  const database = openDatabase({ databaseUrl: serviceUrl, applicationName, connectionsMax: 4, log: silentLog })
  afterFile(() => database.destroy())
  return {
    news: createNewsStore(database, { isSample: false }),
    samples: createNewsStore(database, { isSample: true }),
  }
})
const [store, otherStore] = [instances[0]?.news ?? never(), instances[1]?.news ?? never()]
const samples = instances[0]?.samples ?? never()

const hour = 3_600_000
const { rows: times } = await admin.query<{ now: Date }>('select now()')
const nowMs = (times[0]?.now ?? never()).getTime()

function never(): never {
  throw new Error('there are two instances and a time')
}

function article(change: Partial<NewArticle> = {}): NewArticle {
  const title = change.title ?? 'Chips are back'
  const url = change.url ?? 'https://a.example/1'
  return {
    url,
    urlKey: url.replace('https://', ''),
    title,
    titleKey: foldWords(title),
    publisher: 'A Daily',
    publishedAtMs: nowMs - hour,
    ...change,
  }
}

const keep = (articles: readonly NewArticle[], more: { category?: string; question?: string } = { category: 'tech' }) =>
  store.keep({ provider: 'gdelt', ...more, articles })
const titles = async (
  question: { category?: string; query?: string; question?: string; excluded?: string; limit?: number } = {},
) => (await store.find({ limit: 50, ...question })).map(({ title }) => title)

function splitWords(query: string) {
  const { wanted, excluded } = readSearchWords(foldSearchQuery(query))
  return { query: wanted, ...(excluded === undefined ? {} : { excluded }) }
}

beforeEach(async () => {
  await admin.query('truncate news.articles, news.polls')
})

describe('a story that takes the title of a publisher’s article', () => {
  const phishing = article({ url: 'https://phish.example/login', publisher: 'phish.example' })
  const real = article({ url: 'https://a.example/1' })
  const pulledIn = () => store.keep({ provider: 'gdelt', question: 'chips', articles: [phishing] })
  const published = () => store.keep({ provider: 'publisher-rss', category: 'general', articles: [real] })

  test.each([
    ['before it', [pulledIn, published]],
    ['after it', [published, pulledIn]],
  ])('is not sold in its place when it came %s', async (_what, steps) => {
    for (const step of steps) await step()
    const sold = await store.find({ limit: 10 })
    expect(sold.map(({ url, publisher, provider }) => [url, publisher, provider])).toEqual([
      ['https://a.example/1', 'A Daily', 'publisher-rss'],
    ])
    expect(await titles({ category: 'general' })).toEqual(['Chips are back'])
    // The question that found the story still finds the article.
    expect(await titles({ query: 'nothing', question: 'chips' })).toEqual(['Chips are back'])
  })

  test('cannot rename an article either, and its publisher can', async () => {
    await published()
    const renamed = (title: string) => [article({ title })]
    await store.keep({ provider: 'gdelt', question: 'x', articles: renamed('Chips are a fraud') })
    expect(await titles()).toEqual(['Chips are back'])
    await store.keep({
      provider: 'publisher-rss',
      category: 'general',
      articles: renamed('Correction: chips are late'),
    })
    expect(await titles()).toEqual(['Correction: chips are late'])
    expect(await titles({ query: 'late' })).toEqual(['Correction: chips are late'])
  })
})

describe('words that a question excludes', () => {
  test('stay out, also of the articles that a provider found for the question', async () => {
    await keep(
      [
        article({ title: 'Gamma reports earnings', url: 'https://a.example/gamma' }),
        article({ title: 'Delta reports earnings', url: 'https://a.example/delta' }),
        article({ title: 'Quarter of the Gammas', url: 'https://a.example/gammas' }),
      ],
      { question: 'earnings' },
    )
    const found = await titles({ ...splitWords('earnings -gamma'), question: 'earnings' })
    expect(found).toEqual(['Delta reports earnings'])
  })
})

describe('keeping', () => {
  test('an article is read as it was stored', async () => {
    expect(await keep([article()])).toBe(1)
    expect(await store.find({ limit: 10 })).toEqual([
      {
        title: 'Chips are back',
        publisher: 'A Daily',
        url: 'https://a.example/1',
        publishedAtMs: nowMs - hour,
        provider: 'gdelt',
        urlHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        others: [],
      },
    ])
  })

  test('one address is one article, which takes a corrected title and gains the category', async () => {
    await keep([article()])
    expect(await keep([article({ title: 'Chips are really back' })], { category: 'business' })).toBe(0)
    expect(await titles({ category: 'business' })).toEqual(['Chips are really back'])
    expect(await titles({ category: 'tech' })).toEqual(['Chips are really back'])
  })

  test('one title within a day is one article; a day later it is another', async () => {
    await keep([article()])
    const elsewhere = article({ url: 'https://b.example/1', publishedAtMs: nowMs - 24 * hour })
    const before = article({ url: 'https://c.example/1', publishedAtMs: nowMs - 26 * hour })
    expect(await keep([elsewhere, before])).toBe(1)
    expect((await store.find({ limit: 10 })).map(({ url }) => url)).toEqual([
      'https://a.example/1',
      'https://c.example/1',
    ])
  })

  test('twins in one batch are kept once', async () => {
    expect(await keep([article(), article(), article({ url: 'https://b.example/2' })])).toBe(1)
  })

  test('of pollers who bring the same articles at once each is kept once', async () => {
    const batch = Array.from({ length: 40 }, (_, n) =>
      article({ url: `https://a.example/${n}`, title: `Title ${n % 20}` }),
    )
    const bringing = Array.from({ length: 8 }, (_, n) =>
      (n % 2 === 0 ? store : otherStore).keep({ provider: 'p', category: 'tech', articles: batch }),
    )
    const stored = await Promise.all(bringing)
    expect(stored.reduce((sum, count) => sum + count, 0)).toBe(20)
    expect(await titles()).toHaveLength(20)
  })

  test('an address that is none of the web is refused by the database too', async () => {
    await expect(keep([article({ url: 'javascript:alert(1)' })])).rejects.toMatchObject({
      constraint: 'articles_url_is_web',
    })
  })

  test('nothing to keep costs no question', async () => {
    expect(await keep([])).toBe(0)
  })
})

describe('finding', () => {
  const stored = [
    article({ url: 'https://a.example/1', title: 'Elections in Norway', publishedAtMs: nowMs - 3 * hour }),
    article({ url: 'https://a.example/2', title: 'The Who play again', publishedAtMs: nowMs - 2 * hour }),
    article({ url: 'https://a.example/3', title: 'A bank’s “quantum” plan', publishedAtMs: nowMs - hour }),
  ]

  test('is by category, the newest first, and no more than asked for', async () => {
    await keep(stored.slice(0, 2), { category: 'world' })
    await keep(stored.slice(2), { category: 'business' })
    expect(await titles({ limit: 2 })).toEqual(['A bank’s “quantum” plan', 'The Who play again'])
    expect(await titles({ category: 'world' })).toEqual(['The Who play again', 'Elections in Norway'])
    expect(await titles({ category: 'health' })).toEqual([])
  })

  test.each([
    ['election', ['Elections in Norway']],
    ['NORWAY elections', ['Elections in Norway']],
    ['the who', ['The Who play again']],
    ['quantum -bank', []],
    ['"in norway"', ['Elections in Norway']],
    ['Élections', ['Elections in Norway']],
    ['norway or quantum', ['A bank’s “quantum” plan', 'Elections in Norway']],
    ['a daily', ['A bank’s “quantum” plan', 'The Who play again', 'Elections in Norway']],
    ['penguins', []],
    ["'; drop table news.articles; --", []],
    ['!!! & | <-> :*', []],
  ])('by the words %s', async (query, expected) => {
    await keep(stored)
    expect(await titles(splitWords(query))).toEqual(expected)
  })

  test('by the question that a provider answered with it, though its title has other words', async () => {
    await keep(stored.slice(2), { question: 'superposition' })
    expect(await titles({ query: 'Superposition!', question: 'superposition' })).toHaveLength(1)
    expect(await titles({ query: 'Superposition!', category: 'tech', question: 'superposition' })).toEqual([])
  })
})

describe('polling', () => {
  const plan = (name: string, change: Partial<PollPlan> = {}): PollPlan => {
    return { name, lane: name, category: 'tech', spacingMs: 0, ...change }
  }
  const due = (name: string) =>
    admin.query(`update news.polls set due_at = now(), taken_at = null where name = $1`, [name])

  test('of pollers who ask at once each gets another source, until none is due', async () => {
    const plans = ['a', 'b', 'c'].map((name) => plan(name))
    const taken = await Promise.all(Array.from({ length: 8 }, (_, n) => (n % 2 ? store : otherStore).takePoll(plans)))
    expect(taken.flatMap((poll) => poll?.name ?? []).sort()).toEqual(['a', 'b', 'c'])
  })

  test('a poll of sample data has the name that its provider has', async () => {
    expect(await samples.takePoll([plan('a')])).toMatchObject({ name: 'a' })
  })

  test('a lane keeps its pace over all instances', async () => {
    const plans = ['x/1', 'x/2', 'y/1'].map((name) => plan(name, { lane: name.slice(0, 1), spacingMs: 60_000 }))
    const taken = await Promise.all(Array.from({ length: 6 }, (_, n) => (n % 2 ? store : otherStore).takePoll(plans)))
    expect(taken.flatMap((poll) => poll?.name ?? []).sort()).toEqual(['x/1', 'y/1'])
  })

  test('a success is not due again before its time, and keeps what makes the next question short', async () => {
    const plans = [plan('a')]
    await store.takePoll(plans)
    await store.pollSucceeded({ name: 'a', everyMs: 900_000, etag: '"e"', lastModified: 'yesterday' })
    expect(await otherStore.takePoll(plans)).toBeUndefined()
    await due('a')
    expect(await otherStore.takePoll(plans)).toEqual({ name: 'a', etag: '"e"', lastModified: 'yesterday' })
  })

  test('after a failure the whole lane is left alone, longer each time and a quarter of an hour at most', async () => {
    const plans = [plan('x/1', { lane: 'x' }), plan('x/2', { lane: 'x' }), plan('y')]
    const waitS = async () => {
      const { rows } = await admin.query<{ s: number }>(
        `select extract(epoch from min(due_at) - now())::float as s from news.polls where lane = 'x'`,
      )
      return rows[0]?.s ?? Number.NaN
    }
    expect((await store.takePoll(plans))?.name).toBe('x/1')
    await store.pollFailed('x/1')
    expect((await store.takePoll(plans))?.name).toBe('y')
    expect(await waitS()).toBeGreaterThan(25)
    for (let failure = 0; failure < 20; failure++) await store.pollFailed('x/1')
    expect(await waitS()).toBeLessThan(1_000)
    expect(await waitS()).toBeGreaterThan(700)
  })

  test('a poll whose poller died is taken again when its lease has ended, and not before', async () => {
    await store.takePoll([plan('a')])
    expect(await otherStore.takePoll([plan('a')])).toBeUndefined()
    await admin.query(`update news.polls set due_at = now() - interval '1 second'`)
    expect(await otherStore.takePoll([plan('a')])).toMatchObject({ name: 'a' })
  })
})

test('the summary says which categories have articles and when each was last heard of', async () => {
  const empty = await store.summary()
  expect([empty.hasArticles, empty.categories.size, empty.polledAtMs.size]).toEqual([false, 0, 0])
  await store.takePoll([{ name: 'a', lane: 'a', category: 'tech', spacingMs: 0 }])
  await store.pollSucceeded({ name: 'a', everyMs: 1, etag: undefined, lastModified: undefined })
  await store.takePoll([{ name: 'b', lane: 'b', category: 'health', spacingMs: 0 }])
  await keep([article()])
  const full = await store.summary()
  expect(full).toMatchObject({ hasArticles: true, categories: new Set(['tech']) })
  expect([...full.polledAtMs.keys()]).toEqual(['tech'])
})

test('samples are never served as news, nor news as samples, though they share a database', async () => {
  const plan = { name: 'a', lane: 'a', category: 'tech', spacingMs: 0 }
  await samples.takePoll([plan])
  await samples.pollSucceeded({ name: 'a', everyMs: 900_000, etag: undefined, lastModified: undefined })
  await samples.keep({ provider: 'gdelt', category: 'tech', articles: [article()] })
  expect(await store.find({ limit: 10 })).toEqual([])
  expect(await store.summary()).toMatchObject({ hasArticles: false, categories: new Set(), polledAtMs: new Map() })
  expect(await store.takePoll([plan])).toMatchObject({ name: 'a' })
  await keep([article()])
  expect(await titles()).toEqual(['Chips are back'])
  expect(await samples.find({ limit: 10 })).toMatchObject([{ title: 'Chips are back', provider: 'gdelt' }])
  expect(await samples.summary()).toMatchObject({ hasArticles: true, categories: new Set(['tech']) })
})

test('articles older than a week are deleted, and so are polls that were not requested for as long', async () => {
  await keep([
    article(),
    article({ url: 'https://a.example/old', title: 'Old', publishedAtMs: nowMs - 7.1 * 24 * hour }),
  ])
  await store.takePoll([{ name: 'a', lane: 'a', category: 'tech', spacingMs: 0 }])
  await admin.query(`insert into news.polls values ('gone', 'gone', 'tech', now() - interval '8 days')`)
  await store.forgetOld()
  expect(await titles()).toEqual(['Chips are back'])
  const { rows } = await admin.query('select name from news.polls')
  expect(rows).toEqual([{ name: 'a' }])
})

test('pages follow each other without a gap or a repetition, in both orders and within a range', async () => {
  const moments = [1, 2, 3, 3, 3, 4, 5]
  await keep(
    moments.map((hours, at) =>
      article({ url: `https://a.example/${at}`, title: `Story ${at}`, publishedAtMs: nowMs - hours * hour }),
    ),
  )
  const read = async (page: { isOldestFirst: boolean; fromMs?: number; toMs?: number }) => {
    const found: string[] = []
    let after: { publishedAtMs: number; urlHash: string } | undefined
    for (let turn = 0; turn < 10; turn++) {
      const articles = await store.find({ limit: 2, page: { ...page, after } })
      found.push(...articles.map(({ title }) => title))
      after = articles.at(-1)
      if (articles.length < 2) break
    }
    return found
  }
  const newest = await read({ isOldestFirst: false })
  expect(newest.toSorted()).toEqual(moments.map((_hours, at) => `Story ${at}`))
  expect([newest[0], newest.at(-1)]).toEqual(['Story 0', 'Story 6'])
  const oldest = await read({ isOldestFirst: true })
  expect([oldest[0], new Set(oldest).size]).toEqual(['Story 6', 7])
  const range = { fromMs: nowMs - 4 * hour, toMs: nowMs - 3 * hour }
  expect(await read({ isOldestFirst: false, ...range })).toEqual(['Story 5'])
})

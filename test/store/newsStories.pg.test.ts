import { beforeEach, describe, expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { foldWords } from '../../src/products/news/articles/foldWords.ts'
import { storyKeyOf } from '../../src/products/news/articles/storyWords.ts'
import { silentLog } from '../../src/machine/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { createNewsStore, type NewArticle } from '../../src/store/newsStore.ts'
import { afterFile } from '../support/afterFile.ts'
import { createTestDatabase } from '../support/database.ts'
import { openSessions } from './instance.ts'

const { adminUrl, serviceUrl } = await createTestDatabase()
const admin = openSessions(adminUrl)
const database = openDatabase({ databaseUrl: serviceUrl, applicationName: 'news', connectionsMax: 2, log: silentLog })
afterFile(() => database.destroy())
const store = createNewsStore(database, { isSample: false })

const hour = 3_600_000
const { rows: times } = await admin.query<{ now: Date }>('select now()')
const nowMs = assertPresent(times[0], 'the database has a time').now.getTime()

function article(change: Partial<NewArticle> = {}): NewArticle {
  const title = change.title ?? 'Chips are back'
  const url = change.url ?? 'https://a.example/1'
  const keys = { urlKey: url.replace('https://', ''), titleKey: foldWords(title) }
  return { url, title, ...keys, publisher: 'A Daily', publishedAtMs: nowMs - hour, ...change }
}

const keep = (articles: readonly NewArticle[]) => store.keep({ provider: 'gdelt', category: 'tech', articles })

beforeEach(async () => {
  await admin.query('truncate news.articles')
})

describe('an article of a publisher', () => {
  const image = 'https://img.example/1.jpg'
  const own = article({ rank: 3, description: 'It happened', imageUrl: image, language: 'en' })
  const hostile = article({
    rank: 1_000,
    title: 'Chips are a fraud',
    publisher: 'phish.example',
    description: 'Log in here',
    imageUrl: 'https://phish.example/i.jpg',
  })
  const bring = (feed: string, one: NewArticle) =>
    store.keep({ provider: 'publisher-rss', category: 'tech', feed, articles: [one] })
  const shown = async () =>
    (await store.find({ limit: 10 })).map(({ title, description, imageUrl }) => [title, description, imageUrl])

  test.each([
    ['after', [() => bring('a.example/tech', own), () => bring('phish.example/tech', hostile)]],
    ['before', [() => bring('phish.example/tech', hostile), () => bring('a.example/tech', own)]],
  ])('takes neither title nor picture of another feed that brought its address %s it', async (_when, steps) => {
    for (const step of steps) await step()
    await bring('phish.example/tech', { ...hostile, title: 'Chips are gone' })
    expect(await shown()).toEqual([['Chips are back', 'It happened', image]])
  })

  test('leads its story before the article of a feed that is less trusted, whatever came first and whatever its date', async () => {
    const copy = { ...hostile, title: own.title, titleKey: own.titleKey, url: 'https://phish.example/1', urlKey: 'p/1' }
    await bring('phish.example/tech', { ...copy, publishedAtMs: nowMs - 20 * hour })
    await bring('a.example/tech', own)
    const [story, ...rest] = await store.find({ limit: 10 })
    expect(rest).toEqual([])
    expect(story).toMatchObject({
      url: own.url,
      imageUrl: image,
      others: [{ url: copy.url, publisher: 'phish.example' }],
    })
  })

  test('stays at its time when its feed corrects it with a later one', async () => {
    await bring('a.example/tech', own)
    await bring('a.example/tech', { ...own, title: 'Chips are back, again', publishedAtMs: nowMs })
    expect((await store.find({ limit: 10 }))[0]).toMatchObject({
      title: 'Chips are back, again',
      publishedAtMs: own.publishedAtMs,
    })
  })

  test('is found by its language', async () => {
    await bring('a.example/tech', own)
    expect(await store.find({ limit: 10, language: 'en' })).toHaveLength(1)
    expect(await store.find({ limit: 10, language: 'de' })).toEqual([])
  })
})

describe('a story', () => {
  const titled = (title: string, n: number, more: Partial<NewArticle> = {}) =>
    article({
      title,
      url: `https://p${n}.example/1`,
      publisher: `Publisher ${n}`,
      storyKey: storyKeyOf(title, `Publisher ${n}`),
      ...more,
    })
  const stories = async () => (await store.find({ limit: 50 })).map(({ title, others }) => [title, others.length])

  test('has the articles whose titles have nearly the same words, and the most trusted leads', async () => {
    await keep([
      titled('Central bank raises interest rates by quarter point', 1, { rank: 2_000 }),
      titled('Central bank raises interest rates by a quarter point - Publisher 2', 2, { rank: 7 }),
      titled('The central bank raises its interest rates by quarter point', 3, { rank: 5 }),
    ])
    expect(await stories()).toEqual([['The central bank raises its interest rates by quarter point', 2]])
    const [story] = await store.find({ limit: 1 })
    expect(story?.others.map(({ publisher }) => publisher)).toEqual(['Publisher 2', 'Publisher 1'])
  })

  test.each([
    ['another team', 'Arsenal beat Chelsea in Premier League opener', 'Arsenal beat Everton in Premier League opener'],
    [
      'another number',
      'Bitcoin price falls below 60000 dollars today',
      'Bitcoin price falls below 50000 dollars today',
    ],
    ['few words', 'Apple shows phone', 'Apple shows laptop'],
  ])('does not have a title with %s', async (_what, one, other) => {
    await keep([titled(one, 1), titled(other, 2)])
    expect(new Set(await stories())).toEqual(
      new Set([
        [one, 0],
        [other, 0],
      ]),
    )
  })

  test('of a title that was changed to another story is left', async () => {
    await keep([titled('Chips are back', 1, { rank: 1 }), titled('Chips are back', 2, { rank: 2 })])
    await keep([titled('Trains are late', 1, { rank: 1 })])
    expect(new Set(await stories())).toEqual(
      new Set([
        ['Chips are back', 0],
        ['Trains are late', 0],
      ]),
    )
  })

  test('is led by another article when its leading one was deleted', async () => {
    await keep([
      titled('Chips are back', 1, { rank: 1, publishedAtMs: nowMs - 7.1 * 24 * hour }),
      titled('Chips are back', 2, { rank: 2, publishedAtMs: nowMs - 6.9 * 24 * hour }),
    ])
    await store.forgetOld()
    expect((await store.find({ limit: 5 })).map(({ publisher }) => publisher)).toEqual(['Publisher 2'])
  })
})

import { describe, expect, test } from 'vitest'
import type { Article } from '../../src/products/news/articles/article.ts'
import { createNewsSources } from '../../src/products/news/newsSources.ts'
import { createGdelt } from '../../src/products/news/providers/gdelt.ts'
import { createGuardian } from '../../src/products/news/providers/guardian.ts'
import type { NewsProvider } from '../../src/products/news/providers/newsProvider.ts'
import { createFeedPool } from '../../src/products/news/providers/feedPool.ts'
import { articlesOfFeed } from '../../src/products/news/providers/publisherFeed.ts'
import { assertPresent } from '@tollbook/core/assert'
import { isoTime } from '@tollbook/core/clock'
import { type Answering, json, startLoopbackProvider, text } from '../support/loopbackProvider.ts'
import { openProviderFixture } from '../support/providerFixture.ts'
import { errorBodies, kindOf, readSample, sampleAnswer, sampleTimeMs, withField } from '../support/upstreamSample.ts'

const server = await startLoopbackProvider()
const setting = { url: server.url, apiKey: 'guardian-key' }
const { signal } = new AbortController()

function open(answering: Answering) {
  server.answer(answering)
  const fixture = openProviderFixture({ GDELT: setting, GUARDIAN: setting }, sampleTimeMs)
  return {
    ...fixture,
    gdelt: createGdelt(fixture.deps),
    guardian: assertPresent(createGuardian(fixture.deps), 'there is a key'),
  }
}

/** As it is sold. */
const sold = (articles: readonly Article[]) =>
  articles.map(({ title, publisher, url, publishedAtMs }) => {
    return { title, source: publisher, url, publishedAt: isoTime(publishedAtMs) }
  })
const expected = (name: string) => Object(readSample(name).expect['ok']).articles
const latest = (provider: NewsProvider) => provider.latest('tech', signal)

test('a feed that is unchanged is asked for again by what it said last', async () => {
  const { deps } = open(json([]))
  const asked: unknown[] = []
  const { polled } = createNewsSources({
    ...deps,
    newsFeeds: [{ category: 'tech', url: 'https://feeds.example/rss' }],
    readFeed: ({ etag, lastModified }) => {
      asked.push({ etag, lastModified })
      return Promise.resolve({ kind: 'unchanged' })
    },
    feedPool: { articlesOf: () => Promise.reject(new Error('there is no feed')) },
  })
  const known = { etag: '"a"', lastModified: 'Fri, 20 Nov 2026 12:00:00 GMT' }
  expect(await polled[0]?.poll(known, signal)).toEqual({ articles: [], ...known })
  expect(asked).toEqual([known])
})

test('the place of a feed in the list is the rank of its articles', async () => {
  const { deps } = open(json([]))
  const article = assertPresent(
    articlesOfFeed(
      {
        text: '<rss><channel><item><title>A</title><link>https://a.example/1</link><pubDate>Fri, 20 Nov 2026 12:00:00 GMT</pubDate></item></channel></rss>',
        publisher: 'A',
      },
      sampleTimeMs,
    )[0],
    'the feed has an article',
  )
  const { polled } = createNewsSources({
    ...deps,
    newsFeeds: ['https://a.example/1.xml', 'https://a.example/2.xml'].map((url) => ({ category: 'tech', url })),
    readFeed: () => Promise.resolve({ kind: 'feed', text: '', etag: 'e', lastModified: 'l' }),
    feedPool: { articlesOf: () => Promise.resolve([article]) },
  })
  const polls = await Promise.all(
    polled.slice(0, 2).map((source) => source.poll({ etag: undefined, lastModified: undefined }, signal)),
  )
  expect(polls.map(({ articles: [one], etag, lastModified }) => [one?.rank, etag, lastModified])).toEqual([
    [0, 'e', 'l'],
    [1, 'e', 'l'],
  ])
})

describe('an article', () => {
  const article = (url: string) => ({ title: 'A', url, seendate: isoTime(sampleTimeMs - 60_000), domain: 'a.example' })

  test.each([
    'http://127.0.0.1/x',
    'http://10.0.0.1/x',
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/x',
    'http://localhost/x',
    'http://printer.local/x',
    'http://intranet/x',
    'https://a.example:8443/x',
  ])('is dropped when it leads to %s', async (url) => {
    expect(await latest(open(json({ articles: [article(url)] })).gdelt)).toEqual([])
    expect(await latest(open(json({ articles: [article('https://a.example/1')] })).gdelt)).toHaveLength(1)
  })
})

describe('one malformed item', () => {
  const odd: readonly unknown[] = [null, 7, 'text', [], { objectID: 1, title: {}, url: 3 }, { webTitle: 4, links: 'x' }]
  const among = (good: unknown) => [...odd, good]
  const time = isoTime(sampleTimeMs - 60_000)

  test('does not cost the others of GDELT', async () => {
    const good = { title: 'A', url: 'https://a.example/1', seendate: time, domain: 'a.example' }
    expect(sold(await latest(open(json({ articles: among(good) })).gdelt))).toHaveLength(1)
  })

  test('does not cost the others of The Guardian', async () => {
    const good = { webTitle: 'A', webUrl: 'https://a.example/1', webPublicationDate: time }
    const { guardian } = open(json({ response: { status: 'ok', results: among(good) } }))
    expect(sold(await latest(guardian))).toHaveLength(1)
  })

  test('does not cost the others of a feed', () => {
    const good = { title: 'A', url: 'https://a.example/1', date_published: time, id: '1' }
    const feed = { version: 'https://jsonfeed.org/version/1.1', title: 'A Daily', items: among(good) }
    const articles = articlesOfFeed({ text: JSON.stringify(feed), publisher: undefined }, sampleTimeMs)
    expect(sold(articles)).toHaveLength(1)
  })
})

describe('GDELT', () => {
  const sample = 'gdelt/artlist-tech'

  test('is read as the sample expects', async () => {
    expect(sold(await latest(open(sampleAnswer(sample)).gdelt))).toEqual(expected(sample))
    const { pathname, searchParams } = assertPresent(server.asked.at(-1), 'it was asked').url
    expect(pathname).toBe('/api/v2/doc/doc')
    expect(Object.fromEntries(searchParams)).toMatchObject({
      mode: 'artlist',
      format: 'json',
      sort: 'datedesc',
      timespan: '1d',
      maxrecords: '50',
    })
  })

  test('has titles with long white space, which do not block the process', { timeout: 5_000 }, async () => {
    const more = { url: 'https://a.example/1', seendate: isoTime(sampleTimeMs - 60_000), domain: 'a.example' }
    const title = `A${' '.repeat(120_000)}B`
    expect(sold(await latest(open(json({ articles: [{ title, ...more }] })).gdelt))[0]?.title).toBe('A')
  })

  test('knows nothing when it says {}', async () => {
    expect(await latest(open(sampleAnswer('gdelt/no-match-empty-object')).gdelt)).toEqual([])
  })

  test.each([
    [
      'its plea to be slower, under 200',
      200,
      'Please limit requests to one every 5 seconds or contact ops',
      'rate_limited',
    ],
    [
      'its plea to be slower, under 429',
      429,
      'Please limit requests to one every 5 seconds or contact ops',
      'rate_limited',
    ],
    ['a question it does not take', 200, 'Your query was too short or too long.', 'not_covered'],
    ['other prose', 200, 'Timespan is too short.', 'bad_payload'],
    ['a page', 200, '<!doctype html><html><body>query</body></html>', 'bad_payload'],
  ])('%s', async (_, status, body, kind) => {
    expect(await kindOf(latest(open(text(body, { status })).gdelt))).toBe(kind)
  })

  test('is left alone for a minute after its plea', async () => {
    const { gdelt, clock } = open(text('Please limit requests to one every 5 seconds'))
    await kindOf(latest(gdelt))
    clock.forward(55_000)
    expect(gdelt.whyUnavailable()).toBeDefined()
    clock.forward(6_000)
    expect(gdelt.whyUnavailable()).toBeUndefined()
  })

  test('is read in spite of raw control characters in a title', async () => {
    const body = JSON.stringify(readSample(sample).response.body).replace('raise', 'raise\u0007\n')
    expect(sold(await latest(open(text(body)).gdelt))[0]?.title).toBe('Chip makers raise outlook, citing AI demand')
  })

  test('what has no date that can be read is left out', async () => {
    const { gdelt } = open(sampleAnswer(sample, withField(['articles', 0, 'seendate'], '2026-11-20 12:15')))
    expect(await latest(gdelt)).toHaveLength(1)
  })

  test('is asked no more than once in 15 seconds at its public address', () => {
    const { deps } = openProviderFixture()
    expect(createGdelt(deps).spacingMs).toBe(15_000)
  })
})

describe('the Guardian', () => {
  const sample = 'guardian/search-technology'

  test('is read as the sample expects', async () => {
    expect(sold(await latest(open(sampleAnswer(sample)).guardian))).toEqual(expected(sample))
    expect(Object.fromEntries(server.asked.at(-1)?.url.searchParams ?? [])).toMatchObject({
      section: 'technology',
      'order-by': 'newest',
      'api-key': 'guardian-key',
    })
  })

  test.each([
    ['401', json({ message: 'Unauthorized' }, { status: 401 }), 'auth'],
    ['429', json({ message: 'API rate limit exceeded' }, { status: 429 }), 'rate_limited'],
    ['an error in its envelope', json({ response: { status: 'error', message: 'x' } }), 'bad_payload'],
  ])('%s', async (_, answering, kind) => {
    const { guardian, lines } = open(answering)
    expect(await kindOf(latest(guardian))).toBe(kind)
    expect(lines.join()).not.toContain('guardian-key')
  })

  test('is not there without a key', () => {
    expect(createGuardian(openProviderFixture().deps)).toBeUndefined()
  })
})

describe.each(['gdelt', 'guardian'] as const)('%s', (name) => {
  test.each(errorBodies.filter(([what]) => !what.includes('404')))('answers with %s', async (what, answering, kind) => {
    const outcome = await kindOf(latest(open(answering)[name]))
    // GDELT promises nothing but an object, and one without articles is how it says that there are none.
    expect(outcome).toBe(name === 'gdelt' && what === 'another shape' ? 'answered []' : kind)
  })
})

describe('feeds of publishers', () => {
  const read = (text: string, publisher?: string) => sold(articlesOfFeed({ text, publisher }, sampleTimeMs))
  const item = (inner: string) =>
    `<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>News | Example Daily</title><item>${inner}</item></channel></rss>`
  const whole = '<title>One</title><link>https://a.example/1</link><pubDate>Fri, 20 Nov 2026 11:05:42 GMT</pubDate>'

  test('RSS is read as the sample expects', () => {
    const sample = readSample('publisher-rss/rss2')
    expect(read(sample.response.bodyText ?? '')).toEqual(Object(sample.expect['ok']).articles)
  })

  test('Atom: the alternate link, the publication before the update, the time in UTC', () => {
    const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><title>The Example</title><entry>
      <title type="html"><![CDATA[He&#8217;s <i>in</i>]]></title><link rel="edit" href="https://v.example/e"/>
      <link rel="alternate" type="text/html" href="https://v.example/1"/><id>x</id>
      <published>2026-11-20T05:00:00-05:00</published><updated>2026-11-20T06:00:00-05:00</updated></entry></feed>`
    expect(read(atom)).toEqual([
      { title: 'He’s in', source: 'The Example', url: 'https://v.example/1', publishedAt: '2026-11-20T10:00:00.000Z' },
    ])
  })

  test('RDF and JSON Feed', () => {
    const rdf = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
      <channel rdf:about="x"><title>Slow News</title></channel>
      <item rdf:about="https://r.example/1"><title>Old form</title><link>https://r.example/1</link><dc:date>2026-11-20T10:00:00Z</dc:date></item></rdf:RDF>`
    const jsonFeed = JSON.stringify({
      version: 'https://jsonfeed.org/version/1.1',
      title: 'Young News',
      items: [{ id: '1', url: 'https://j.example/1', title: 'New form', date_published: '2026-11-20T10:00:00Z' }],
    })
    expect([...read(rdf), ...read(jsonFeed)].map(({ title, source }) => `${title} (${source})`)).toEqual([
      'Old form (Slow News)',
      'New form (Young News)',
    ])
  })

  test('the publisher is named by us, by the item, or by the part of the title that is not a section', () => {
    expect(read(item(whole), 'The Name')[0]?.source).toBe('The Name')
    expect(read(item(`${whole}<source url="https://s.example">Agency</source>`))[0]?.source).toBe('Agency')
    expect(read(item(whole))[0]?.source).toBe('Example Daily')
  })

  test.each([
    ['without a date', whole.replace(/<pubDate>.*/, '')],
    ['with a date without zone', whole.replace(' GMT', '')],
    ['with a zone that means several', whole.replace('GMT', 'BST')],
    ['with a link that is none', whole.replace('https://a.example/1', 'javascript:alert(1)')],
    ['without a title', whole.replace('<title>One</title>', '')],
  ])('an item %s is left out', (_, inner) => {
    expect(read(item(inner))).toEqual([])
  })

  test.each([
    ['a page that asks whether we are human', '<!doctype html><html><body>Just a moment...</body></html>'],
    ['half a feed', '<rss version="2.0"><channel><title>cut off'],
    ['nothing', ''],
    ['JSON that is not a feed', '{"a":1}'],
  ])('%s is not a feed', (_, body) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ kind: 'bad_payload' }))
  })

  const namespaces =
    'xmlns:media="http://search.yahoo.com/mrss/" xmlns:content="http://purl.org/rss/1.0/modules/content/"'
  const detailed = (inner: string) => {
    const text = item(`${whole}${inner}`)
      .replace('<rss', `<rss ${namespaces}`)
      .replace('<item>', '<language>en-GB</language><item>')
    const [one] = articlesOfFeed({ text, publisher: 'A Daily' }, sampleTimeMs)
    return { description: one?.description, image: one?.imageUrl, language: one?.language }
  }

  test('a description is plain text, a picture is one of the item, and the language that of item or feed', () => {
    expect(
      detailed(
        '<description>&lt;p&gt;Two&lt;/p&gt;&lt;p&gt;parts&lt;/p&gt;</description><dc:language>fr-CA</dc:language><media:thumbnail url="https://i.example/t.jpg"/>',
      ),
    ).toEqual({ description: 'Two parts', image: 'https://i.example/t.jpg', language: 'fr' })
    expect(detailed('<content:encoded><![CDATA[<b>All</b> of it]]></content:encoded>')).toMatchObject({
      description: 'All of it',
      language: 'en',
    })
    expect(detailed('<media:content url="https://i.example/v.mp4" type="video/mp4"/>').image).toBeUndefined()
    expect(detailed('<enclosure url="https://i.example/e" type="image/png" length="1"/>').image).toBe(
      'https://i.example/e',
    )
    expect(
      detailed('<media:group><media:content url="https://i.example/g.webp" medium="image"/></media:group>').image,
    ).toBe('https://i.example/g.webp')
    const atom = `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="nl"><title>T</title><entry><title>A</title><id>1</id>
      <link href="https://a.example/1"/><link rel="enclosure" type="image/png" href="https://i.example/a.png"/>
      <published>2026-11-20T05:00:00Z</published><summary type="html">&lt;i&gt;Short&lt;/i&gt;</summary></entry></feed>`
    expect(articlesOfFeed({ text: atom, publisher: undefined }, sampleTimeMs)).toMatchObject([
      { description: 'Short', imageUrl: 'https://i.example/a.png', language: 'nl' },
    ])
  })

  test.each([
    'http://i.example/1.jpg',
    'https://127.0.0.1/1.jpg',
    'https://[::1]/1.jpg',
    'https://169.254.169.254/latest',
    'https://localhost/1.jpg',
    'https://printer.local/1.jpg',
    'https://user:secret@i.example/1.jpg',
    'https://i.example:8443/1.jpg',
    'javascript:alert(1)',
    'data:image/png;base64,AAAA',
    '//i.example/1.jpg',
    `https://i.example/${'x'.repeat(3_000)}`,
  ])('the picture %s is dropped', (url) => {
    expect(detailed(`<media:thumbnail url="${url}"/>`).image).toBeUndefined()
  })

  test('markup is stripped however it is nested, and length is bounded', () => {
    const escaped = (html: string) => html.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    const of = (html: string) => detailed(`<description>${escaped(html)}</description>`).description ?? ''
    expect(of('a<script>steal()</script><style>p{}</style><!-- x -->b')).toBe('a b')
    expect(of('<<b>script>alert(1)<<b>/script> <<<i>i>i>x')).not.toMatch(/<[a-z/]/i)
    expect(of('&amp;lt;script&amp;gt;alert(1)')).not.toMatch(/<[a-z]/i)
    expect(of('word '.repeat(200_000)).length).toBeLessThanOrEqual(501)
    expect(of('<script>'.repeat(100_000))).toBe('')
    expect(read(item(whole.replace('One', 'é'.repeat(400_000))))[0]?.title).toHaveLength(301)
  })

  test('a date in the future is now', () => {
    expect(read(item(whole.replace('11:05:42', '13:05:42')))[0]?.publishedAt).toBe(isoTime(sampleTimeMs))
  })

  test('a text that its parser would read for minutes is given up, and the service goes on', async () => {
    const text = `<rss version="2.0"><channel><item><title>${'<'.repeat(1_000_000)}`
    const endless = { feed: { text, publisher: undefined }, nowMs: sampleTimeMs }
    const hurried = createFeedPool(1)
    expect(await kindOf(hurried.articlesOf(endless, signal))).toBe('bad_payload')
    await hurried.close()
    // The thread that reads it is stopped. The next one may take any time to start on a busy machine.
    const pool = createFeedPool(100_000)
    expect(await kindOf(pool.articlesOf(endless, AbortSignal.timeout(1_000)))).toBe('bad_payload')
    const next = pool.articlesOf({ feed: { text: item(whole), publisher: undefined }, nowMs: sampleTimeMs }, signal)
    expect(await next).toHaveLength(1)
    await pool.close()
  })

  test('entities defined by the feed are not expanded, at any nesting', () => {
    const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>${item(whole.replace('One', '&b;'))}`
    expect(read(bomb)[0]?.title.length).toBeLessThan(50)
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { articleOf } from '../../../src/products/news/articles/article.ts'
import { cleanUrl, urlKeyOf } from '../../../src/products/news/articles/articleUrl.ts'
import { cleanTitle } from '../../../src/products/news/articles/cleanTitle.ts'
import { foldSearchQuery, foldWords, readSearchWords } from '../../../src/products/news/articles/foldWords.ts'
import { storyKeyOf } from '../../../src/products/news/articles/storyWords.ts'
import { instantOf } from '../../../src/sourcing/instant.ts'

const nowMs = Date.parse('2026-11-20T12:49:25Z')

describe('address', () => {
  const webUrl = fc.webUrl({ withQueryParameters: true, withFragments: true })
  const mark = fc.constantFrom(
    'utm_source=x',
    'utm_id=',
    'at_medium=RSS',
    'fbclid=abc',
    'gclid=1',
    'mc_cid=2',
    'CMP=share',
  )

  test('what is clean stays as it is', () => {
    fc.assert(
      fc.property(webUrl, (url) => {
        const clean = cleanUrl(url)
        expect(clean === undefined ? undefined : cleanUrl(clean)).toBe(clean)
      }),
    )
  })

  test('marks, fragments, scheme, www, a last slash and the order of parameters make no other article', () => {
    const page = fc.record({
      host: fc.domain(),
      path: fc.array(fc.stringMatching(/^[a-z0-9-]{1,8}$/), { maxLength: 3 }),
      query: fc.uniqueArray(fc.stringMatching(/^q[a-z]{1,4}=[a-z0-9]{1,4}$/), { maxLength: 3 }),
    })
    fc.assert(
      fc.property(page, mark, fc.boolean(), ({ host, path, query }, tracked, isShort) => {
        const key = (url: string) => urlKeyOf(cleanUrl(url) ?? '')
        const plain = `https://${host}/${path.join('/')}?${query.join('&')}`
        const other = `http://www.${host}/${path.join('/')}${isShort ? '' : '/'}?${[...query.toReversed(), tracked].join('&')}#top`
        expect(key(other)).toBe(key(plain))
      }),
    )
  })

  test('another parameter is another article', () => {
    const keys = ['https://a.example/p?id=1', 'https://a.example/p?id=2', 'https://a.example/p', 'https://b.example/p']
    expect(new Set(keys.map(urlKeyOf)).size).toBe(4)
  })

  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://a.example/x',
    '/relative',
    'https://user:secret@a.example/',
    '',
    `https://a.example/${'x'.repeat(3_000)}`,
    // Cyrillic о in a Latin label.
    'https://example.\u043erg/a',
    'https://bl\u043eomberg.com/a',
  ])('%s is none of an article', (url) => {
    expect(cleanUrl(url)).toBeUndefined()
  })
})

describe('title', () => {
  test.each([
    ['A &amp; B &#8217;s <em>big</em> &rsquo;day&nbsp;x', 'A & B ’s big ’day x'],
    ['R&amp;D', 'R&D'],
    ['x &lt;script&gt;alert(1)&lt;/script&gt; y', 'x alert(1) y'],
    ['2 < 3 and 5 > 4', '2 < 3 and 5 > 4'],
    ['Caf&eacute; &Eacute;lys&eacute;e', 'Café Élysée'],
    [' two\n\tlines\u0000 ', 'two lines'],
    ['&unknown; &#0; &#xFFFFFFF; &#x1F600;', '&unknown; 😀'],
    ['right\u202eto left', 'rightto left'],
    ['<p></p>', ''],
  ])('%j is read as %j', (raw, clean) => {
    expect(cleanTitle(raw)).toBe(clean)
  })

  test('is one line of at most 301 characters without tags, whatever comes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 700 }), (raw) => {
        const title = cleanTitle(raw)
        expect(title).not.toMatch(/[\p{Cc}]|<\/?[a-z][^<>]*>/iu)
        expect(title.isWellFormed()).toBe(true)
        expect([...new Intl.Segmenter('en').segment(title)].length).toBeLessThanOrEqual(301)
      }),
    )
  })
})

describe('instant', () => {
  test.each([
    ['2026-11-20T12:15:00Z', '2026-11-20T12:15:00.000Z'],
    ['2026-11-20T07:15:00.5-05:00', '2026-11-20T12:15:00.500Z'],
    ['20261120T121542Z', '2026-11-20T12:15:42.000Z'],
    ['Fri, 20 Nov 2026 11:05:42 GMT', '2026-11-20T11:05:42.000Z'],
    ['Fri, 20 Nov 2026 06:05:42 EST', '2026-11-20T11:05:42.000Z'],
    ['20 Nov 2026 12:05 +0100', '2026-11-20T11:05:00.000Z'],
  ])('%s is %s', (text, iso) => {
    expect(new Date(instantOf(text) ?? Number.NaN).toISOString()).toBe(iso)
  })

  test.each([
    '2026-11-20T12:45',
    '2026-11-20 12:45:00',
    '2026-11-20',
    'Fri, 20 Nov 2026 11:05:42',
    'Fri, 20 Nov 2026 11:05:42 BST',
    'yesterday',
    '1795178700',
    '2026-13-45T99:99:99Z',
    '',
  ])('"%s" says no instant, so none is guessed', (text) => {
    expect(instantOf(text)).toBeUndefined()
  })
})

describe('words', () => {
  test.each([
    ['“Quantum” leap—Zürich’s COVID-19 plan', 'quantum leap zurich s covid 19 plan'],
    ['Москва', 'москва'],
    ['!?', ''],
  ])('of %s are %s', (text, words) => {
    expect(foldWords(text)).toBe(words)
  })

  test.each([
    ['"New York" -Yankees', '"new york" -yankees'],
    ['“Élysée” or covid-19', '"elysee" or covid 19'],
    ["a | b & (c) <-> d:* ' ; --", 'a b c d'],
  ])('of the question %s are %s', (query, words) => {
    expect(foldSearchQuery(query)).toBe(words)
  })

  test('of a question hold nothing of the syntax but quotes and the minus before a word', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (query) => {
        expect(foldSearchQuery(query)).toMatch(/^(?:[\p{L}\p{N}" ]|(?<=^| )-(?=[\p{L}\p{N}"]))*$/u)
      }),
    )
  })
})

test('words to leave out are read one by one, and a phrase as one', () => {
  expect(readSearchWords(foldSearchQuery('Zebra -Crossing or -"Old  town" x-ray -'))).toEqual({
    wanted: 'zebra or x ray',
    excluded: 'crossing or "old town"',
  })
  expect(readSearchWords('zebra')).toEqual({ wanted: 'zebra', excluded: undefined })
})

test('a tag that appears when another is removed is removed too', () => {
  expect(cleanTitle('Zebra <<b>script>crossing<<<i>b>b>')).toBe('Zebra crossing')
})

test('a story is known by its words, without the publisher that ends its title', () => {
  expect(storyKeyOf('The zebra and a lion - A Daily', 'A Daily')).toBe('lion zebra')
  expect(storyKeyOf('Zebra - lion', 'A Daily')).toBe('lion zebra')
  expect(storyKeyOf('Zebra | a daily of five words', 'a daily of five words')).toBe('daily five words zebra')
  expect(storyKeyOf('Zebra zebra', 'x')).toBe('zebra')
})

describe('article', () => {
  const raw = {
    title: 'Chips, again',
    url: 'https://www.a.example/1?utm_source=x',
    publisher: 'A <b>Daily</b>',
    publishedAt: '2026-11-20T10:00:00Z',
  }

  test('is what is sold, and the keys it is known by', () => {
    expect(articleOf(raw, nowMs)).toEqual({
      urlKey: 'a.example/1',
      url: 'https://www.a.example/1',
      title: 'Chips, again',
      titleKey: 'chips again',
      storyKey: 'again chips',
      publisher: 'A Daily',
      publishedAtMs: Date.parse('2026-11-20T10:00:00Z'),
    })
  })

  test('of a nameless publisher is that of its host', () => {
    expect(articleOf({ ...raw, publisher: undefined }, nowMs)?.publisher).toBe('a.example')
  })

  test.each([
    ['without a title', { title: ' ' }],
    ['without an address', { url: undefined }],
    ['without a date', { publishedAt: undefined }],
    ['of last week', { publishedAt: '2026-11-13T12:00:00Z' }],
    ['of tomorrow', { publishedAt: '2026-11-21T12:00:00Z' }],
  ])('%s is left out', (_, change) => {
    expect(articleOf({ ...raw, ...change }, nowMs)).toBeUndefined()
  })
})

test.each([
  ['€', 'euro'],
  ['$5 bn', 'dollar 5 bn'],
  ['₿itcoin?', 'bitcoin itcoin'],
  ['¤', ''],
])('the question %j is about %j, as a title that spells the currency is', (question, words) => {
  expect(foldSearchQuery(question)).toBe(words)
  expect(foldWords(question)).toBe(words)
})

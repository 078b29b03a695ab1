import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { randomBytesOf } from '@tollbook/core/id'
import { webRules } from '../../src/outbound/egressRules.ts'
import { createReadFeed } from '../../src/sourcing/readFeed.ts'
import { type Answering, deadUrl, startLoopbackProvider, text } from '../support/loopbackProvider.ts'
import { openProviderFixture } from '../support/providerFixture.ts'
import { kindOf } from '../support/upstreamSample.ts'

const server = await startLoopbackProvider()
const { upstreamDeps, calls } = openProviderFixture()
const readFeed = createReadFeed(upstreamDeps)
const nothing = { etag: undefined, lastModified: undefined }
const { signal } = new AbortController()

const read = (
  path: string,
  answering: Answering,
  known: typeof nothing | { etag: string; lastModified: string } = nothing,
) => {
  server.answer(answering)
  return readFeed({ url: `${server.url}${path}`, ...known, signal })
}
const moved = (to: string): Answering => text('', { status: 301, headers: { location: to } })

test('a feed comes with what makes the next question short', async () => {
  const headers = { etag: '"abc"', 'last-modified': 'Fri, 20 Nov 2026 12:00:00 GMT' }
  expect(await read('/rss.xml', text('<rss/>', { headers }))).toEqual({
    kind: 'feed',
    text: '<rss/>',
    etag: '"abc"',
    lastModified: 'Fri, 20 Nov 2026 12:00:00 GMT',
  })
  const known = { etag: '"abc"', lastModified: 'Fri, 20 Nov 2026 12:00:00 GMT' }
  expect(await read('/rss.xml', text('', { status: 304 }), known)).toEqual({ kind: 'unchanged' })
  expect(server.asked.at(-1)?.headers).toMatchObject({
    'if-none-match': '"abc"',
    'if-modified-since': 'Fri, 20 Nov 2026 12:00:00 GMT',
    'user-agent': 'Tollbook/1.2.3 (+ops@example.org)',
  })
  expect(calls).toContain('publisher-rss: answered')
})

test.each([
  ['by its header', 'text/xml; charset=iso-8859-1', '<?xml version="1.0"?>'],
  ['by its declaration', 'text/xml', '<?xml version="1.0" encoding="ISO-8859-1"?>'],
])('is decoded %s', async (_, type, prolog) => {
  const bytes = Buffer.from(`${prolog}Zürich`, 'latin1')
  const reply = await read('/', (response) => response.writeHead(200, { 'content-type': type }).end(bytes))
  expect(reply).toMatchObject({ text: `${prolog}Zürich` })
})

test('a compressed feed whose connection breaks is a failure, and the reader does not wait for the rest', async () => {
  const bytes = gzipSync(randomBytesOf(100_000))
  const cut: Answering = (response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bytes.length })
    response.write(bytes.subarray(0, 50_000), () => response.destroy())
  }
  expect(await kindOf(read('/rss.xml', cut))).toBe('upstream')
})

describe('a feed that has moved', () => {
  const hops =
    (count: number): Answering =>
    (response, asked) => {
      const at = Number(asked.url.searchParams.get('hop') ?? 0)
      if (at < count) moved(`/feed?hop=${at + 1}`)(response, asked)
      else text('<rss/>')(response, asked)
    }

  test('is followed on its own host for three hops, and not for four', async () => {
    expect(await read('/feed', hops(3))).toMatchObject({ kind: 'feed' })
    expect(await kindOf(read('/feed', hops(4)))).toBe('bad_payload')
  })

  test.each([
    'http://127.0.0.1:1/',
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/',
    'http://2130706433/',
    'http://localhost/',
    'file:///etc/passwd',
    'http://user:pass@example.com/',
    'gopher://example.com/',
  ])('is not followed to %s', async (to) => {
    expect(await kindOf(read('/feed', moved(to)))).toBe('blocked')
  })

  test('is not followed to another port of its own machine', async () => {
    expect(await kindOf(read('/feed', moved(await deadUrl())))).toBe('blocked')
  })
})

test('a feed that has moved is read at the address that was judged; the name is resolved once', async () => {
  const { port } = new URL(server.url)
  const asked: string[] = []
  const allowHosts = [`moved.test:${port}`]
  const rebinding = createReadFeed(upstreamDeps, {
    ...webRules(allowHosts),
    resolve: () => Promise.resolve([]),
    resolveAllowed(name) {
      asked.push(name)
      // No other resolver knows the name, and this one knows another address the second time.
      return Promise.resolve([asked.length === 1 ? '127.0.0.1' : '127.0.0.2'])
    },
  })
  server.answer((response, question) => {
    if (question.url.pathname === '/old') moved(`http://moved.test:${port}/new`)(response, question)
    else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('<rss>moved</rss>'))
  })
  const reply = await rebinding({ url: `${server.url}/old`, ...nothing, signal })
  expect(reply).toMatchObject({ text: '<rss>moved</rss>' })
  expect(asked).toEqual(['moved.test'])
})

test('a feed whose own name leads to a private address is not read, whatever it led to before', async () => {
  let answers = ['93.184.216.34']
  const rules = { ...webRules([]), resolve: () => Promise.resolve(answers) }
  const { port } = new URL(server.url)
  const begun = server.asked.length
  const rebinding = createReadFeed(upstreamDeps, rules)
  server.answer(text('<rss>inside</rss>'))
  answers = ['127.0.0.1']
  expect(await kindOf(rebinding({ url: `http://feed.example:${port}/`, ...nothing, signal }))).toBe('blocked')
  // Of the addresses of one answer, none may be private.
  answers = ['93.184.216.34', '127.0.0.1']
  expect(await kindOf(rebinding({ url: `http://feed.example:${port}/`, ...nothing, signal }))).toBe('blocked')
  expect(server.asked.length).toBe(begun)
})

test('a feed at a name of the network is read where the operator allows that name', async () => {
  const { port } = new URL(server.url)
  const resolveAllowed = () => Promise.resolve(['127.0.0.1'])
  const read = createReadFeed(upstreamDeps, { ...webRules([`feeds.internal:${port}`]), resolveAllowed })
  server.answer(text('<rss>own</rss>'))
  expect(await read({ url: `http://feeds.internal:${port}/`, ...nothing, signal })).toMatchObject({
    text: '<rss>own</rss>',
  })
})

test.each([
  [404, 'not_found'],
  [403, 'blocked'],
  [429, 'rate_limited'],
  [500, 'upstream'],
  [204, 'bad_payload'],
])('HTTP %i is %s', async (status, kind) => {
  expect(await kindOf(read('/', text('', { status })))).toBe(kind)
})

test('a feed of more than a mebibyte is not read to its end', async () => {
  expect(await kindOf(read('/', text('x'.repeat(1024 * 1024 + 1))))).toBe('bad_payload')
})

test('a port without a listener, or a caller that has left, is a failure that names no address', async () => {
  const url = `${await deadUrl()}/?key=secret`
  const dead = readFeed({ url, ...nothing, signal })
  await expect(dead).rejects.toMatchObject({ kind: 'upstream', message: expect.not.stringContaining('secret') })
  await expect(readFeed({ url, ...nothing, signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: 'timeout' })
})

import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Reply } from '../../src/outbound/upstreamRequest.ts'
import { createUpstream, type Upstream, type UpstreamOptions } from '../../src/outbound/upstream.ts'
import { UpstreamFailure } from '../../src/product/upstreamFailure.ts'
import { type Answering, deadUrl, json, startLoopbackProvider, text } from '../support/loopbackProvider.ts'
import { holdTimeLimits } from '../support/holdTimeLimits.ts'
import { type ForwardClock, openProviderFixture } from '../support/providerFixture.ts'

const server = await startLoopbackProvider()
const unlimited = { requests: 1_000, perSeconds: 1 }

function open(options: Partial<UpstreamOptions> = {}) {
  const fixture = openProviderFixture()
  const clock = holdTimeLimits(fixture.clock)
  const upstream = createUpstream(fixture.upstreamDeps, {
    name: 'sample',
    base: new URL(`${server.url}/v1`),
    pace: unlimited,
    ...options,
  })
  const asked = server.asked.length
  return { ...fixture, clock, upstream, askedSince: () => server.asked.slice(asked) }
}

let items = 0

/** Asks for another item each time, unless a path is given. */
async function failureOf(
  upstream: Upstream,
  read: (reply: Reply) => unknown = (reply) => reply,
  path = `/price/${++items}`,
): Promise<UpstreamFailure> {
  const failure: unknown = await upstream.ask({ path }, read).catch((error: unknown) => error)
  if (failure instanceof UpstreamFailure) return failure
  throw new Error('it did not fail', { cause: failure })
}

const fails = (kind: UpstreamFailure['kind']) => () => {
  throw new UpstreamFailure(kind, `is ${kind}`)
}
const parse = (reply: Reply): unknown => JSON.parse(reply.text)

describe('a request', () => {
  test('says who asks, what it takes, and carries the path after the base', async () => {
    const { upstream, askedSince, calls } = open({ headers: { 'x-key': 'k' } })
    server.answer(json({ price: 1 }))
    const request = { path: '/price', query: { q: 'A&B=ü' }, headers: { 'x-more': 'm' } }
    expect(await upstream.ask(request, parse)).toEqual({ price: 1 })
    const [asked] = askedSince()
    expect(asked?.url.pathname).toBe('/v1/price')
    expect(asked?.url.searchParams.get('q')).toBe('A&B=ü')
    expect(asked?.headers).toMatchObject({
      accept: 'application/json',
      'user-agent': 'Tollbook/1.2.3 (+ops@example.org)',
      'x-key': 'k',
      'x-more': 'm',
    })
    expect(calls).toEqual(['sample: answered'])
  })

  test('may come with the User-Agent that a provider insists on', async () => {
    const { upstream, askedSince } = open({ headers: { 'user-agent': 'Mozilla/5.0' } })
    server.answer(json([]))
    await upstream.ask({ path: '/price' }, parse)
    expect(askedSince()[0]?.headers['user-agent']).toBe('Mozilla/5.0')
  })

  test('hands over whatever status says its truth in the body', async () => {
    const { upstream } = open()
    server.answer(json({ code: 404 }, { status: 404 }))
    expect(await upstream.ask({ path: '/price' }, ({ status }) => status)).toBe(404)
  })
})

describe('a provider that does not answer', () => {
  test('is given up on when the time is up, and not asked twice', async () => {
    const { upstream, askedSince, clock } = open({ timeoutMs: 1_000 })
    server.answer(() => clock.forward(1_000))
    expect((await failureOf(upstream)).kind).toBe('timeout')
    expect(askedSince()).toHaveLength(1)
  })

  test('cannot hold us by sending a byte now and then', async () => {
    const { upstream, clock } = open({ timeoutMs: 1_000 })
    server.answer((response) => {
      response.writeHead(200)
      const drip = setInterval(() => {
        response.write(' ')
        clock.forward(100)
      }, 5)
      response.on('close', () => clearInterval(drip))
    })
    expect((await failureOf(upstream)).kind).toBe('timeout')
  })

  test('is not awaited after the caller has left', async () => {
    const { upstream } = open({ timeoutMs: 60_000 })
    const leaving = new AbortController()
    server.answer(() => leaving.abort())
    const asking = upstream.ask({ path: '/price', signal: leaving.signal }, parse)
    await expect(asking).rejects.toBeInstanceOf(UpstreamFailure)
  })

  test('has one time for both tries', async () => {
    const { upstream, clock } = open({ timeoutMs: 2_000 })
    const first = server.asked.length
    // The first connection is lost, the second hangs.
    server.answer((response) => {
      clock.forward(1_000)
      if (server.asked.length === first + 1) response.destroy()
    })
    expect((await failureOf(upstream)).kind).toBe('timeout')
    expect(server.asked.length - first).toBe(2)
  })

  test('is asked a second time when the connection was lost', async () => {
    const { upstream, askedSince } = open()
    const first = server.asked.length
    server.answer((response, asked) =>
      server.asked.length === first + 1 ? response.destroy() : json({ price: 2 })(response, asked),
    )
    expect(await upstream.ask({ path: '/price' }, parse)).toEqual({ price: 2 })
    expect(askedSince()).toHaveLength(2)
  })

  test('is not queried a second time if it sent a time to retry', async () => {
    const { upstream, askedSince } = open()
    server.answer(text('later', { status: 503, headers: { 'retry-after': '30' } }))
    expect((await failureOf(upstream)).kind).toBe('upstream')
    expect(askedSince()).toHaveLength(1)
    expect(upstream.whyResting()).toBeDefined()
  })

  test('costs few second tries when it is down', async () => {
    const { upstream, askedSince, clock } = open()
    server.answer(text('down', { status: 503 }))
    for (let i = 0; i < 10; i++) {
      await failureOf(upstream)
      // No minute passes, so that the budget of second tries is not refilled; only the breaker's rest does.
      if (upstream.whyResting() !== undefined) break
    }
    expect(askedSince()).toHaveLength(10)
    clock.forward(31_000)
    await failureOf(upstream)
    await failureOf(upstream)
    expect(askedSince()).toHaveLength(12)
  })

  test('is `upstream` without a listener, without its address in the message', async () => {
    const base = new URL(`${await deadUrl()}/v1`)
    const failure = await failureOf(open({ base }).upstream)
    expect(failure.kind).toBe('upstream')
    expect(failure.message).toBe('sample cannot be reached: ECONNREFUSED')
  })
})

describe('an answer that is not one', () => {
  const gigabyte = 1024 ** 3
  const endless: Answering = (response) => {
    response.writeHead(200, { 'content-length': String(gigabyte) })
    const chunk = Buffer.alloc(64 * 1024, 32)
    const pour = () => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', pour)
    pour()
  }

  test('of a gigabyte is cut at the limit and not read on', async () => {
    const { upstream } = open()
    server.answer(endless)
    const before = process.memoryUsage().rss
    const failure = await failureOf(upstream)
    expect([failure.kind, failure.message]).toEqual(['bad_payload', 'sample: the answer is longer than 262144 bytes'])
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024)
  })

  test('that unpacks to more than the limit is cut though it was short on the wire', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    expect(bomb.length).toBeLessThan(100_000)
    const { upstream } = open()
    server.answer((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
    expect((await failureOf(upstream)).kind).toBe('bad_payload')
  })

  test('of exactly the limit is read', async () => {
    const { upstream } = open({ bytesMax: 1_000 })
    server.answer(text('x'.repeat(1_000)))
    expect(await upstream.ask({ path: '/price' }, (reply) => reply.text.length)).toBe(1_000)
    server.answer(text('x'.repeat(1_001)))
    expect((await failureOf(upstream)).kind).toBe('bad_payload')
  })

  test('that is a page and not JSON is a fault of the provider', async () => {
    const { upstream } = open()
    server.answer(text('<html>Access Denied</html>', { headers: { 'content-type': 'text/html' } }))
    expect((await failureOf(upstream, parse)).kind).toBe('bad_payload')
  })

  test.each([301, 302, 303, 307, 308])(
    'that sends us elsewhere with %i is refused and not followed',
    async (status) => {
      const { upstream, askedSince } = open()
      server.answer(text('', { status, headers: { location: `${server.url}/v1/elsewhere` } }))
      expect((await failureOf(upstream)).kind).toBe('bad_payload')
      expect(askedSince()).toHaveLength(1)
    },
  )

  test('that reports no change is returned', async () => {
    const { upstream } = open()
    server.answer(text('', { status: 304 }))
    expect(await upstream.ask({ path: '/price' }, ({ status }) => status)).toBe(304)
  })
})

describe('a limit', () => {
  const now = Date.UTC(2026, 10, 20, 12)
  test.each([
    ['seconds', '7', 7_000],
    ['an HTTP date', new Date(now + 90_000).toUTCString(), 90_000],
    ['0', '0', 5_000],
    ['a date that is past', new Date(now - 90_000).toUTCString(), 5_000],
    ['nothing', undefined, 5_000],
    ['nonsense', 'soon', 5_000],
    ['a year', String(365 * 86_400), 15 * 60_000],
  ])('with %s in Retry-After is kept', async (_what, given, pauseMs) => {
    const fixture = openProviderFixture({}, now)
    const upstream = createUpstream(fixture.upstreamDeps, {
      name: 'sample',
      base: new URL(server.url),
      pace: unlimited,
    })
    const first = server.asked.length
    server.answer(text('slow down', { status: 429, headers: given === undefined ? {} : { 'retry-after': given } }))
    expect((await failureOf(upstream)).kind).toBe('rate_limited')
    fixture.clock.forward(pauseMs - 1)
    expect(upstream.whyResting()).toBeDefined()
    expect((await failureOf(upstream)).kind).toBe('resting')
    expect(server.asked.length - first).toBe(1)
    fixture.clock.forward(1)
    expect(upstream.whyResting()).toBeUndefined()
  })

  test('that is only in the body of a 429 is respected', async () => {
    const { upstream, clock } = open({ pauseMs: ({ text }) => Number(/(\d+) seconds/.exec(text)?.[1]) * 1_000 })
    server.answer(text('one request every 40 seconds', { status: 429 }))
    expect((await failureOf(upstream)).retryAfterMs).toBe(40_000)
    clock.forward(39_000)
    expect(upstream.whyResting()).toBeDefined()
    clock.forward(2_000)
    expect(upstream.whyResting()).toBeUndefined()
  })

  test('that is in the body is respected as well', async () => {
    const { upstream, askedSince } = open()
    server.answer(json({ code: 429 }))
    await failureOf(upstream, fails('rate_limited'))
    await failureOf(upstream)
    expect(askedSince()).toHaveLength(1)
  })

  test('of our own making is never exceeded, is known beforehand, and opens no breaker', async () => {
    const { upstream, askedSince, clock } = open({ pace: { requests: 3, perSeconds: 60 } })
    server.answer(json([]))
    for (let i = 0; i < 3; i++) await upstream.ask({ path: '/price' }, parse)
    expect(upstream.whyResting()).toMatch(/as often as it allows/)
    for (let i = 0; i < 10; i++) expect((await failureOf(upstream)).kind).toBe('rate_limited')
    expect(askedSince()).toHaveLength(3)
    clock.forward(60_000)
    expect(upstream.whyResting()).toBeUndefined()
    await upstream.ask({ path: '/price' }, parse)
    expect(askedSince()).toHaveLength(4)
  })

  test('of our own making counts second tries too', async () => {
    const { upstream, askedSince } = open({ pace: { requests: 1, perSeconds: 60 } })
    server.answer(text('down', { status: 502 }))
    expect((await failureOf(upstream)).kind).toBe('upstream')
    expect(askedSince()).toHaveLength(1)
  })
})

describe('the breaker', () => {
  async function opened() {
    const fixture = open({ timeoutMs: 2_000 })
    server.answer(json({}))
    for (let i = 0; i < 5; i++) {
      expect(fixture.upstream.whyResting()).toBeUndefined()
      await failureOf(fixture.upstream, fails('bad_payload'))
    }
    return fixture
  }

  test('opens at the fifth failure in a row, and sends no request for half a minute', async () => {
    const { upstream, askedSince, clock, lines } = await opened()
    expect(upstream.whyResting()).toMatch(/left alone/)
    expect((await failureOf(upstream)).kind).toBe('resting')
    clock.forward(29_000)
    expect((await failureOf(upstream)).kind).toBe('resting')
    expect(askedSince()).toHaveLength(5)
    expect(lines.filter((line) => line.includes('upstream_resting'))).toHaveLength(1)
  })

  test('then lets exactly one through, and turns away who comes meanwhile at once', async () => {
    const { upstream, askedSince, clock } = await opened()
    clock.forward(31_000)
    server.answer(() => clock.forward(2_000))
    const all = await Promise.all(Array.from({ length: 10 }, () => failureOf(upstream)))
    expect(all.map(({ kind }) => kind).toSorted()).toEqual([...Array<string>(9).fill('resting'), 'timeout'])
    expect(askedSince()).toHaveLength(6)
    // That one failed: it rests again.
    expect(upstream.whyResting()).toBeDefined()
  })

  test.each<[string, (clock: ForwardClock) => Answering]>([
    ['time-outs', (clock) => () => clock.forward(1_000)],
    ['lost connections', () => (response) => void response.destroy()],
    ['errors of theirs', () => text('', { status: 500 })],
    ['redirects', () => text('', { status: 302, headers: { location: '/' } })],
  ])('counts %s', async (_what, answeringBy) => {
    const { upstream, clock } = open({ timeoutMs: 1_000 })
    server.answer(answeringBy(clock))
    for (let i = 0; i < 5; i++) {
      expect(upstream.whyResting()).toBeUndefined()
      await failureOf(upstream)
    }
    expect(upstream.whyResting()).toMatch(/left alone/)
    clock.forward(31_000)
    await failureOf(upstream)
    expect(upstream.whyResting()).toMatch(/left alone/)
    clock.forward(31_000)
    expect(upstream.whyResting()).toBeUndefined()
  })

  test('stays closed for all others when one caller asks for one unreadable item again and again', async () => {
    const { upstream } = open()
    server.answer(json({}))
    for (let i = 0; i < 10; i++) await failureOf(upstream, fails('bad_payload'), '/price/malformed')
    expect(upstream.whyResting()).toBeUndefined()
    for (let i = 0; i < 4; i++) await failureOf(upstream, fails('bad_payload'))
    expect(upstream.whyResting()).toMatch(/left alone/)
  })

  test('closes when that one is answered', async () => {
    const { upstream, clock } = await opened()
    clock.forward(31_000)
    await upstream.ask({ path: '/price' }, parse)
    expect(upstream.whyResting()).toBeUndefined()
    for (let i = 0; i < 4; i++) await failureOf(upstream, fails('bad_payload'))
    expect(upstream.whyResting()).toBeUndefined()
  })

  test.each(['not_found', 'not_covered', 'incomplete'] as const)(
    'does not count %s, which ends a row',
    async (kind) => {
      const { upstream } = open()
      server.answer(json({}))
      for (let i = 0; i < 4; i++) await failureOf(upstream, fails('bad_payload'))
      for (let i = 0; i < 10; i++) await failureOf(upstream, fails(kind))
      for (let i = 0; i < 4; i++) await failureOf(upstream, fails('bad_payload'))
      expect(upstream.whyResting()).toBeUndefined()
    },
  )
})

describe('a key', () => {
  const key = 'sk-very-secret-0123456789'

  test.each<[string, Answering]>([
    ['is refused', json({ error: 'bad key' }, { status: 401 })],
    ['is down', text('down', { status: 500 })],
    ['hangs up', (response) => void response.destroy()],
    ['sends a page that quotes it', text(`<html>${key}</html>`)],
    ['redirects with it', text('', { status: 302, headers: { location: `/?apikey=${key}` } })],
  ])('is in no log line and no error when the provider %s', async (_what, answering) => {
    const { upstream, lines } = open({ headers: { authorization: key } })
    server.answer(answering)
    const failure = await upstream
      .ask({ path: '/price', query: { apikey: key } }, (reply) => {
        if (reply.status === 401) throw new UpstreamFailure('auth', 'HTTP 401')
        throw new UpstreamFailure('bad_payload', 'no JSON')
      })
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(UpstreamFailure)
    expect(lines.length).toBeGreaterThan(0)
    expect(`${lines.join()} ${describeAll(failure)}`).not.toContain(key)
  })

  test('that cannot be in a header is not quoted either', async () => {
    const { upstream, lines } = open({ headers: { authorization: `${key}\nx` } })
    const failure = await failureOf(upstream)
    expect(`${lines.join()} ${describeAll(failure)}`).not.toContain(key)
  })
})

function describeAll(error: unknown): string {
  return error instanceof Error ? `${error.message} ${error.stack} ${describeAll(error.cause)}` : String(error)
}

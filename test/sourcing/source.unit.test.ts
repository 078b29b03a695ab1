import { describe, expect, test } from 'vitest'
import { parseJson } from '../../src/outbound/upstreamReply.ts'
import type { Provider } from '../../src/sourcing/provider.ts'
import { createSource } from '../../src/sourcing/source.ts'
import { UpstreamFailure } from '../../src/product/upstreamFailure.ts'
import {
  type Answering,
  json,
  type LoopbackProvider,
  startLoopbackProvider,
  text,
} from '../support/loopbackProvider.ts'
import { holdTimeLimits } from '../support/holdTimeLimits.ts'
import { type ForwardClock, openProviderFixture, type ProviderFixture } from '../support/providerFixture.ts'

const servers = { first: await startLoopbackProvider(), second: await startLoopbackProvider() }

type Price = { readonly price: number }

const firstTimeoutMs = 1_000
let clock: ForwardClock

/** Two providers in a row, whose servers say `{price, ageMs?}` or 404. */
function open() {
  const fixture = openProviderFixture()
  clock = holdTimeLimits(fixture.clock)
  servers.first.answer(json({ price: 1 }))
  servers.second.answer(json({ price: 2 }))
  const source = createSource<string, Price>(fixture.deps, {
    what: 'a price',
    providers: [provider(fixture, 'first', firstTimeoutMs), provider(fixture, 'second', 4_000)],
    keyOf: (query) => query,
    known: ['btc'],
    freshMs: 60_000,
    staleMs: 600_000,
    ageMaxMs: 30 * 60_000,
  })
  const begun = { first: servers.first.asked.length, second: servers.second.asked.length }
  const asked = (name: keyof typeof servers) => servers[name].asked.length - begun[name]
  return { ...fixture, source, asked: () => [asked('first'), asked('second')] }
}

function provider(fixture: ProviderFixture, name: keyof typeof servers, timeoutMs: number): Provider<string, Price> {
  const base = new URL(servers[name].url)
  const pace = { requests: 1_000, perSeconds: 1 }
  const upstream = fixture.deps.openUpstream({ name, base, pace, timeoutMs })
  return {
    name,
    whyUnavailable: () => upstream.whyResting(),
    ask: (query) =>
      upstream.ask({ path: `/${query}` }, (reply) => {
        if (reply.status === 404) throw new UpstreamFailure('not_found', 'HTTP 404')
        if (reply.status === 422) throw new UpstreamFailure('not_covered', 'HTTP 422')
        if (reply.status === 409) throw new UpstreamFailure('incomplete', 'HTTP 409')
        if (reply.status === 401) throw new UpstreamFailure('auth', 'HTTP 401')
        const body = parseJson(reply)
        if (typeof body !== 'object' || body === null || !('price' in body) || typeof body.price !== 'number')
          throw new UpstreamFailure('incomplete', 'no price')
        const ageMs = 'ageMs' in body && typeof body.ageMs === 'number' ? body.ageMs : 1_000
        return { data: { price: body.price }, asOfMs: fixture.clock.nowMs() - ageMs, meta: { id: query } }
      }),
  }
}

const down = text('down', { status: 503, headers: { 'retry-after': '1' } })
const status = (code: number): Answering => json({}, { status: code })
// Sends nothing, and the time for the first provider passes.
const hangs: Answering = () => clock.forward(firstTimeoutMs)
const hangsUp: Answering = (response) => void response.destroy()

describe('the providers are asked in turn', () => {
  test('and the second not at all while the first answers', async () => {
    const { source, asked } = open()
    const found = await source.ask('btc')
    expect(found).toMatchObject({ kind: 'found', data: { price: 1 } })
    expect(found).toMatchObject({ meta: { source: 'first', id: 'btc', cached: false, ageSeconds: 0 } })
    const ageMs = clock.nowMs() - Date.parse(found.kind === 'found' ? found.meta.asOf : '')
    expect(Math.round(ageMs / 1_000)).toBe(1)
    expect(asked()).toEqual([1, 0])
  })

  test.each<[string, Answering]>([
    ['is down', down],
    ['hangs up', hangsUp],
    ['hangs', hangs],
    ['limits us', text('', { status: 429 })],
    ['does not know it', status(404)],
    ['does not cover it', status(422)],
    ['wants money', status(401)],
    ['sends a page', text('<html></html>')],
    ['sends half of it', json({ name: 'Bitcoin' })],
    ['sends what is too old', json({ price: 1, ageMs: 31 * 60_000 })],
    ['sends what is of tomorrow', json({ price: 1, ageMs: -86_400_000 })],
    ['redirects', text('', { status: 302, headers: { location: 'http://169.254.169.254/' } })],
  ])('and the second answers when the first %s', async (_what, answering) => {
    const { source } = open()
    servers.first.answer(answering)
    expect(await source.ask('btc')).toMatchObject({ kind: 'found', data: { price: 2 }, meta: { source: 'second' } })
  })

  test('and one that hangs beyond every promise is left after four seconds, all of them after ten', async () => {
    const fixture = openProviderFixture()
    const asked: string[] = []
    const waits: number[] = []
    const stuck = (name: string): Provider<string, Price> => ({
      name,
      whyUnavailable: () => undefined,
      ask() {
        asked.push(name)
        return new Promise(() => undefined)
      },
    })
    // Time passes as fast as the code under test waits for it.
    const clock = {
      ...fixture.clock,
      sleep(durationMs: number) {
        waits.push(Math.round(durationMs / 100) * 100)
        fixture.clock.forward(durationMs)
        return Promise.resolve()
      },
    }
    const source = createSource<string, Price>(
      { clock, sampleUpstreams: false, isProbed: false },
      {
        what: 'a price',
        providers: ['a', 'b', 'c', 'd'].map(stuck),
        keyOf: (query) => query,
        known: ['btc'],
        freshMs: 1,
        staleMs: 1,
        ageMaxMs: 1,
      },
    )
    expect(await source.ask('btc')).toMatchObject({ kind: 'failed', code: 'UPSTREAM_TIMEOUT' })
    expect(asked).toEqual(['a', 'b', 'c'])
    expect(waits).toEqual([4_000, 4_000, 2_000])
  })
})

describe('callers who ask for the same at once', () => {
  test('share one question', async () => {
    const { source, asked } = open()
    servers.first.answer((response, one) => void setTimeout(() => json({ price: 7 })(response, one), 30))
    const all = await Promise.all(Array.from({ length: 50 }, () => source.ask('btc')))
    expect(all.every((found) => found.kind === 'found' && found.data.price === 7 && !found.meta.cached)).toBe(true)
    expect(asked()).toEqual([1, 0])
  })

  test('share its failure', async () => {
    const { source, asked } = open()
    servers.first.answer(status(401))
    servers.second.answer(status(401))
    const all = await Promise.all(Array.from({ length: 50 }, () => source.ask('btc')))
    expect(all.every((found) => found.kind === 'failed' && found.code === 'UPSTREAM_FAILED')).toBe(true)
    expect(asked()).toEqual([1, 1])
  })

  test('do not share it with those who ask for another', async () => {
    const { source, asked } = open()
    await Promise.all(['btc', 'eth', 'sol'].map((query) => source.ask(query)))
    expect(asked()).toEqual([3, 0])
  })
})

describe('an answer', () => {
  test('is returned again for a minute, with its age, and is fetched again afterwards', async () => {
    const { source, asked } = open()
    await source.ask('btc')
    clock.forward(59_000)
    servers.first.answer(json({ price: 3 }))
    expect(await source.ask('btc')).toMatchObject({ data: { price: 1 }, meta: { cached: true, ageSeconds: 59 } })
    expect(asked()).toEqual([1, 0])
    clock.forward(2_000)
    expect(await source.ask('btc')).toMatchObject({ data: { price: 3 }, meta: { cached: false, ageSeconds: 0 } })
    expect(asked()).toEqual([2, 0])
  })

  test('is served stale while all providers fail, to its limit and no longer', async () => {
    const { source } = open()
    await source.ask('btc')
    servers.first.answer(status(401))
    servers.second.answer(status(401))
    clock.forward(100_000)
    expect(await source.ask('btc')).toMatchObject({ data: { price: 1 }, meta: { cached: true, ageSeconds: 100 } })
    clock.forward(559_000)
    expect(await source.ask('btc')).toMatchObject({ data: { price: 1 }, meta: { cached: true, ageSeconds: 659 } })
    clock.forward(10_000)
    expect(await source.ask('btc')).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
  })

  test('that is stale is not fetched again for five seconds, and is replaced as soon as a provider answers', async () => {
    const { source, asked } = open()
    await source.ask('btc')
    servers.first.answer(status(401))
    servers.second.answer(status(401))
    clock.forward(61_000)
    await source.ask('btc')
    await source.ask('btc')
    expect(asked()).toEqual([2, 1])
    servers.first.answer(json({ price: 4 }))
    clock.forward(6_000)
    expect(await source.ask('btc')).toMatchObject({ data: { price: 4 }, meta: { cached: false, ageSeconds: 0 } })
  })

  test('is not served stale if all providers report that it is gone', async () => {
    const { source } = open()
    await source.ask('btc')
    servers.first.answer(status(404))
    servers.second.answer(status(404))
    clock.forward(61_000)
    expect(await source.ask('btc')).toMatchObject({ kind: 'failed', code: 'NO_DATA' })
  })

  test('that its provider had kept says when that was asked', async () => {
    const fixture = openProviderFixture()
    const stored: Provider<string, Price> = {
      name: 'keeper',
      whyUnavailable: () => undefined,
      ask: () => {
        const nowMs = fixture.clock.nowMs()
        return Promise.resolve({ data: { price: 1 }, asOfMs: nowMs, fetchedAtMs: nowMs - 90_000 })
      },
    }
    const known: readonly [string] = ['btc']
    const options = { what: 'a price', providers: [stored], keyOf: (query: string) => query, known }
    const source = createSource<string, Price>(fixture.deps, { ...options, freshMs: 1, staleMs: 1, ageMaxMs: 60_000 })
    expect(await source.ask('btc')).toMatchObject({ meta: { cached: true, ageSeconds: 90 } })
  })

  test('from the samples of local mode says so', async () => {
    const fixture = openProviderFixture()
    servers.first.answer(json({ price: 1 }))
    const source = createSource<string, Price>(
      { clock: fixture.clock, sampleUpstreams: true, isProbed: false },
      {
        what: 'a price',
        providers: [provider(fixture, 'first', 1_000)],
        keyOf: (query) => query,
        known: ['btc'],
        freshMs: 1,
        staleMs: 1,
        ageMaxMs: 60_000,
      },
    )
    expect(await source.ask('btc')).toMatchObject({ meta: { source: 'sample:first' } })
  })
})

describe('an item that no provider has', () => {
  test('is NO_DATA, and known for ten minutes without asking', async () => {
    const { source } = open()
    servers.first.answer(status(404))
    servers.second.answer(status(422))
    expect(source.isKnownMissing('zzz')).toBe(false)
    expect(await source.ask('zzz')).toMatchObject({ kind: 'failed', code: 'NO_DATA' })
    expect(source.isKnownMissing('zzz')).toBe(true)
    expect(source.isKnownMissing('yyy')).toBe(false)
    clock.forward(599_000)
    expect(source.isKnownMissing('zzz')).toBe(true)
    clock.forward(2_000)
    expect(source.isKnownMissing('zzz')).toBe(false)
  })

  test.each<[string, Answering, string]>([
    ['is down', down, 'UPSTREAM_FAILED'],
    ['limits us', text('', { status: 429 }), 'UPSTREAM_FAILED'],
    ['hangs', hangs, 'UPSTREAM_TIMEOUT'],
    ['has half of it', status(409), 'UPSTREAM_FAILED'],
    ['does not take our key', status(401), 'UPSTREAM_FAILED'],
    ['sends a page for people', text('<html>consent</html>'), 'UPSTREAM_FAILED'],
    ['redirects', text('', { status: 302, headers: { location: '/consent' } }), 'UPSTREAM_FAILED'],
  ])('is not remembered while one who may know it %s', async (_what, answering, code) => {
    const { source } = open()
    servers.first.answer(answering)
    servers.second.answer(status(404))
    expect(await source.ask('zzz')).toMatchObject({ kind: 'failed', code })
    expect(source.isKnownMissing('zzz')).toBe(false)
  })

  test('is not said to be missing when no provider covers it', async () => {
    const { source } = open()
    servers.first.answer(status(422))
    servers.second.answer(status(422))
    expect(await source.ask('zzz')).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
    expect(source.isKnownMissing('zzz')).toBe(false)
  })

  test('is not said to be missing because the one who knows it is being left alone', async () => {
    const { source } = open()
    servers.first.answer(text('', { status: 429, headers: { 'retry-after': '60' } }))
    await source.ask('btc')
    servers.second.answer(status(404))
    expect(await source.ask('zzz')).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
  })
})

describe('when no provider is available', () => {
  const restAll = (source: { ask(query: string): Promise<unknown> }) => {
    for (const server of Object.values<LoopbackProvider>(servers))
      server.answer(text('', { status: 429, headers: { 'retry-after': '60' } }))
    return source.ask('other')
  }

  test('it is known before a quote, and passes with the rest', async () => {
    const { source } = open()
    expect(source.whyUnavailable('btc')).toBeUndefined()
    await restAll(source)
    expect(source.whyUnavailable('btc')).toBe('no provider of a price can be asked at the moment')
    expect(source.whyUnavailable()).toBeDefined()
    clock.forward(61_000)
    expect(source.whyUnavailable('btc')).toBeUndefined()
  })

  test('a cached answer is still sold, to its limit', async () => {
    const { source } = open()
    await source.ask('btc')
    clock.forward(61_000)
    await restAll(source)
    expect(source.whyUnavailable('eth')).toBeDefined()
    expect(source.whyUnavailable('btc')).toBeUndefined()
    expect(await source.ask('btc')).toMatchObject({ kind: 'found', meta: { cached: true, ageSeconds: 61 } })
    clock.forward(600_000)
    await restAll(source)
    expect(source.whyUnavailable('btc')).toBeDefined()
  })
})

describe('a buyer who asks for things that no provider knows', () => {
  test('300 unknown items of one wallet cost a few provider calls, and other wallets are served meanwhile', async () => {
    const { source, asked } = open()
    servers.first.answer(json({}, { status: 404 }))
    servers.second.answer(json({}, { status: 404 }))
    const found: string[] = []
    for (let item = 0; item < 300; item++) {
      const answer = await source.ask(`x${item}`, 'wallet-a')
      found.push(answer.kind === 'failed' ? answer.code : answer.kind)
    }
    expect(asked()).toEqual([3, 3])
    expect(found.slice(0, 5)).toEqual(['NO_DATA', 'NO_DATA', 'NO_DATA', 'UPSTREAM_FAILED', 'UPSTREAM_FAILED'])
    servers.first.answer(json({ price: 1 }))
    expect(await source.ask('btc', 'wallet-b')).toMatchObject({ kind: 'found' })
    expect(source.whyUnavailable('eth', 'wallet-a')).toMatch(/3 items within 10 minutes/)
    expect(source.whyUnavailable('eth', 'wallet-b')).toBeUndefined()
    // Cached answers are for everyone, and the wallet may look again later.
    expect(await source.ask('btc', 'wallet-a')).toMatchObject({ kind: 'found' })
    clock.forward(10 * 60_000)
    expect(await source.ask('eth', 'wallet-a')).toMatchObject({ kind: 'found' })
  })

  test('and in parallel for things that exist is answered for each, to a limit of lookups in progress', async () => {
    const { source } = open()
    const buy = (count: number, of: string) =>
      Promise.all(Array.from({ length: count }, (_, item) => source.ask(`${of}${item}`, 'wallet-d')))
    expect(new Set((await buy(20, 'a')).map(({ kind }) => kind))).toEqual(new Set(['found']))
    const crowd = await buy(21, 'b')
    expect(crowd.slice(0, 20).filter(({ kind }) => kind === 'found')).toHaveLength(20)
    expect(crowd[20]).toMatchObject({ message: expect.stringMatching(/20 lookups in progress/) })
    expect(await source.ask('b20', 'wallet-d'), 'they have ended').toMatchObject({ kind: 'found' })
  })

  test('answers and outages are not counted against a wallet', async () => {
    const { source } = open()
    for (let item = 0; item < 5; item++)
      expect(await source.ask(`found${item}`, 'wallet-c')).toMatchObject({ kind: 'found' })
    servers.first.answer(text('down', { status: 401 }))
    servers.second.answer(text('down', { status: 401 }))
    for (let item = 0; item < 4; item++) await source.ask(`down${item}`, 'wallet-c')
    servers.first.answer(json({ price: 1 }))
    expect(await source.ask('after', 'wallet-c')).toMatchObject({ kind: 'found' })
  })
})

import { expect, test } from 'vitest'
import { readJson } from '../../src/outbound/upstreamReply.ts'
import type { Provider } from '../../src/sourcing/provider.ts'
import { createSource } from '../../src/sourcing/source.ts'
import { UpstreamFailure } from '../../src/product/upstreamFailure.ts'
import { createRateLimit, type RateLimit } from '../../src/transport/rateLimit.ts'
import { json, startLoopbackProvider } from '../support/loopbackProvider.ts'
import { openProviderFixture } from '../support/providerFixture.ts'
import { z } from 'zod'

const server = await startLoopbackProvider((response, asked) => {
  const name = asked.url.pathname.slice(1)
  json({ name }, { status: name.startsWith('x') ? 404 : 200 })(response, asked)
})
const paceOfMinute = { requests: 20, perSeconds: 60 }
const body = z.object({ name: z.string() })

/** A provider that knows everything but names with an x, and allows 20 requests a minute. */
function open(limit?: RateLimit, pace = paceOfMinute) {
  const fixture = openProviderFixture()
  const upstream = fixture.deps.openUpstream({ name: 'listing', base: new URL(server.url), pace })
  const provider: Provider<string, z.infer<typeof body>> = {
    name: 'listing',
    pace,
    whyUnavailable: () => upstream.whyResting(),
    ask: (query) =>
      upstream.ask({ path: `/${query}` }, (reply) => {
        if (reply.status === 404) throw new UpstreamFailure('not_found', 'HTTP 404')
        return { data: readJson(reply, body), asOfMs: fixture.clock.nowMs() }
      }),
  }
  const openSharedCount = limit && (() => ({ take: () => limit.take('all').isAllowed }))
  const source = createSource<string, z.infer<typeof body>>(
    { ...fixture.deps, ...(openSharedCount === undefined ? {} : { openSharedCount }) },
    {
      what: 'a listing',
      providers: [provider],
      keyOf: (query) => query,
      isListed: (query) => query.startsWith('listed'),
      known: ['listed'],
      freshMs: 60_000,
      staleMs: 0,
      ageMaxMs: 60_000,
    },
  )
  const begun = server.asked.length
  return { ...fixture, source, asked: () => server.asked.length - begun }
}

test('a crowd of wallets that ask for unknown items leaves half of the pace to items that exist', async () => {
  const { source, asked, clock } = open()
  for (let wallet = 0; wallet < 200; wallet++) await source.ask(`x${wallet}`, `attacker-${wallet}`)
  expect(asked()).toBe(10)
  expect(source.whyUnavailable('x999', 'another')).toMatch(/not listed/)
  expect(source.whyUnavailable('listed-1', 'honest')).toBeUndefined()
  for (let item = 0; item < 5; item++)
    expect(await source.ask(`listed-${item}`, 'honest')).toMatchObject({ kind: 'found' })
  // Once it was found, an item is known to exist.
  clock.forward(61_000)
  expect(await source.ask('discovered', 'honest')).toMatchObject({ kind: 'found' })
  for (let wallet = 200; wallet < 230; wallet++) await source.ask(`x${wallet}`, `attacker-${wallet}`)
  clock.forward(61_000)
  for (let wallet = 230; wallet < 260; wallet++) await source.ask(`x${wallet}`, `attacker-${wallet}`)
  expect(source.whyUnavailable('discovered', 'honest')).toBeUndefined()
  expect(await source.ask('discovered', 'honest')).toMatchObject({ kind: 'found' })
})

test('a wallet that buys many items leaves as many lookups to the others as it takes', async () => {
  const { source, asked } = open()
  const found = async (item: number, buyer: string) =>
    (await source.ask(`listed-${item}`, buyer)).kind === 'found' ? 1 : 0
  let sold = 0
  for (let item = 0; item < 40; item++) sold += await found(item, 'greedy')
  expect(sold).toBe(10)
  expect(source.whyUnavailable('listed-99', 'greedy')).toMatch(/share/)
  for (let buyer = 0; buyer < 5; buyer++) expect(await found(100 + buyer, `honest-${buyer}`)).toBe(1)
  expect(asked()).toBe(15)
  // Cached answers take nothing of the provider.
  expect(await found(0, 'greedy')).toBe(1)
})

test('instances share the pace of a provider', async () => {
  const limit = createRateLimit({ name: 'lookups listing', max: 20, windowMs: 60_000 }, () => 30_000)
  const { source, asked } = open(limit)
  for (let other = 0; other < 18; other++) limit.take('all')
  for (let buyer = 0; buyer < 5; buyer++) await source.ask(`listed-${buyer}`, `buyer-${buyer}`)
  expect(asked()).toBe(2)
})

test('a limit of another time than a minute is counted by the minute', async () => {
  for (const [perSeconds, most] of [
    [120, 5],
    [3_600, 1],
  ] as const) {
    const { source, asked } = open(undefined, { requests: 20, perSeconds })
    for (let item = 0; item < 20; item++) await source.ask(`listed-${item}`, 'greedy')
    expect(asked()).toBe(most)
  }
})

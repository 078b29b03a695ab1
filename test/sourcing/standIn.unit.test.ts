import { beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { openCatalog, type Parts } from '../../src/products/catalog.ts'
import { crypto } from '../../src/products/crypto/crypto.ts'
import type { Endpoint } from '../../src/product/endpoint.ts'
import type { OpenProduct } from '../../src/product/productDefinition.ts'
import { withStandIn } from '../../src/sourcing/standIn.ts'
import type { ProviderDeps } from '../../src/sourcing/provider.ts'
import { isoTime } from '@tollbook/core/clock'
import { assert, assertPresent } from '@tollbook/core/assert'
import { type Answering, deadUrl, startLoopbackProvider, text } from '../support/loopbackProvider.ts'
import { openProviderFixture } from '../support/providerFixture.ts'
import { sampleAnswer, withField } from '../support/upstreamSample.ts'

const provider = await startLoopbackProvider()
const standIn = await startLoopbackProvider()
const dead = await deadUrl()
const down = text('down', { status: 503 })
let nowMs = (): number => 0
const answering: Answering = (response, asked) => {
  const time = isoTime(nowMs())
  const answer = asked.url.pathname.startsWith('/0/public')
    ? sampleAnswer('kraken/ticker-xbtusd')
    : sampleAnswer('coingecko/markets-btc', withField([0, 'last_updated'], time))
  answer(response, asked)
}
const askedForPrices = () => provider.asked.filter(({ url }) => url.pathname.endsWith('/markets')).length

const job = { signal: new AbortController().signal, requestId: 'test', payer: 'wallet', payment: 'payment' }
const orderOf = (endpoint: Endpoint) => {
  const ordered = endpoint.read({ symbol: 'BTC' })
  assert(ordered.ok, 'the order is valid')
  return ordered
}
const sourceOf = async (endpoint: Endpoint) => {
  const outcome = await orderOf(endpoint).deliver(job)
  return outcome.kind === 'delivered' ? outcome.meta.source : outcome.kind
}

async function open({ hasStandIn = true } = {}) {
  const fixture = openProviderFixture()
  nowMs = fixture.clock.nowMs
  const { openUpstream, log } = fixture.deps
  const depsOf = (url: string, sampleUpstreams: boolean): ProviderDeps => ({
    clock: fixture.clock,
    log,
    openUpstream,
    sampleUpstreams,
    isProbed: true,
    upstreams: { COINGECKO: { url }, COINPAPRIKA: { url: dead }, KRAKEN: { url } },
  })
  const definition = { ...crypto, open: ({ data }: Parts) => crypto.open(data) }
  const partsOf = (data: ProviderDeps): Parts => ({ ...unneeded, data })
  const { endpoints } = await openCatalog(
    [definition],
    partsOf(depsOf(provider.url, false)),
    hasStandIn ? partsOf(depsOf(standIn.url, true)) : undefined,
  )
  const [endpoint] = endpoints
  const opened = assertPresent(endpoint, 'crypto is sold')
  const probe = async () => {
    fixture.clock.forward(61_000)
    await Promise.all(opened.probes.filter((one) => one.isDue()).map((one) => one.probe()))
  }
  return { endpoint: opened, probe, clock: fixture.clock }
}

const unused = () => Promise.reject(new Error('crypto does not use it'))
const unneeded = { pages: unused, news: unused, chat: unused }

beforeEach(() => {
  provider.answer(answering)
  standIn.answer(answering)
})

test('a product closes its samples too', async () => {
  const closed: string[] = []
  const productThat = (name: string): OpenProduct => ({
    parameters: z.object({}),
    whyUnavailable: () => undefined,
    suppliedBy: () => 'providers',
    probes: [],
    read: () => ({ ok: false, issues: [] }),
    close: () => Promise.resolve(void closed.push(name)),
  })
  await withStandIn(productThat('product'), productThat('samples')).close()
  expect(closed).toEqual(['product', 'samples'])
})

describe('outside local mode', () => {
  test('a product is not quoted before one of its providers has answered a probe', async () => {
    provider.answer(down)
    const { endpoint, probe } = await open({ hasStandIn: false })
    expect(orderOf(endpoint).whyUnavailable()).toBe('no provider of a cryptocurrency price answers at the moment')
    await probe()
    expect(orderOf(endpoint).whyUnavailable()).toBeDefined()
    provider.answer(answering)
    await probe()
    expect(orderOf(endpoint).whyUnavailable()).toBeUndefined()
    expect(endpoint.suppliedBy()).toBe('providers')
  })

  test('a provider that fails a buyer is probed, and is not quoted again before it answers', async () => {
    const { endpoint, probe } = await open({ hasStandIn: false })
    await probe()
    provider.answer(down)
    expect(await sourceOf(endpoint)).toBe('failed')
    await probe()
    expect(orderOf(endpoint).whyUnavailable()).toBeDefined()
    expect(endpoint.suppliedBy()).toBe('none')
  })

  test('a provider that answers is left alone for half an hour, and is then asked again', async () => {
    const { endpoint, probe, clock } = await open({ hasStandIn: false })
    await probe()
    const asked = askedForPrices()
    for (let rounds = 0; rounds < 5; rounds++) {
      clock.forward(4 * 60_000)
      await probe()
    }
    expect(askedForPrices()).toBe(asked)
    clock.forward(10 * 60_000)
    await probe()
    expect(askedForPrices()).toBe(asked + 1)
    expect(endpoint.suppliedBy()).toBe('providers')
  })
})

test('a stand-in serves, marked as a sample, until a provider answers, and again when it fails', async () => {
  provider.answer(down)
  const { endpoint, probe, clock } = await open()
  await probe()
  expect(endpoint.suppliedBy()).toBe('samples')
  expect(orderOf(endpoint).whyUnavailable()).toBeUndefined()
  expect(await sourceOf(endpoint)).toBe('sample:coingecko')
  provider.answer(answering)
  await probe()
  expect(await sourceOf(endpoint)).toBe('coingecko')
  provider.answer(down)
  clock.forward(30 * 60_000)
  for (let rounds = 0; rounds < 3; rounds++) await probe()
  expect(await sourceOf(endpoint)).toBe('sample:coingecko')
})

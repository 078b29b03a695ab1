import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { askForAgreement, whyUnconfirmable } from '../../src/sourcing/askForAgreement.ts'
import type { Figures } from '../../src/sourcing/agreement/figures.ts'
import { createLastKnown } from '../../src/sourcing/agreement/lastKnown.ts'
import type { Observation, Provider } from '../../src/sourcing/provider.ts'
import { createSource } from '../../src/sourcing/source.ts'
import { type FailureKind, UpstreamFailure } from '../../src/product/upstreamFailure.ts'

type Answer = Figures | FailureKind | 'hangs'

/** Providers in order. A provider that hangs uses up its time, which passes as fast as it is waited for. */
function open(answers: Readonly<Record<string, Answer>>) {
  let nowMs = 1_000_000
  const asked: string[][] = [[]]
  const failed: string[] = []
  const clock = {
    ...systemClock,
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    async sleep(durationMs: number) {
      const endMs = nowMs + durationMs
      await new Promise(setImmediate)
      nowMs = Math.max(nowMs, endMs)
    },
  }
  const providers = Object.entries(answers).map(([name, answer]): Provider<string, string> => ({
    name,
    whyUnavailable: () => undefined,
    async ask(): Promise<Observation<string>> {
      asked.at(-1)?.push(name)
      // All providers of a wave are asked before the first of them answers.
      await Promise.resolve()
      if (asked.at(-1)?.includes(name) === true) asked.push([])
      if (answer === 'hangs') return new Promise(() => undefined)
      if (typeof answer === 'string') throw new UpstreamFailure(answer, answer)
      return { data: name, asOfMs: nowMs, figures: answer }
    },
  }))
  const liveness = {
    answers: () => true,
    someAnswer: () => true,
    noteAnswer: () => undefined,
    noteFailure: (name: string) => void failed.push(name),
    isDue: () => false,
    probe: () => Promise.resolve(),
  }
  const tolerances = { price: { percent: 1 } }
  const lastKnown = createLastKnown(clock, 60_000)
  const policy = { main: 'price', tolerances, jumps: tolerances, keyOf: (query: string) => query, lastKnown }
  const options = { providers, ageMaxMs: 60_000 }
  const ask = () => askForAgreement({ clock, liveness, options }, policy, 'item')
  return { ask, failed, lastKnown, policy, providers, waves: () => asked.filter((wave) => wave.length > 0) }
}

const price = { price: 100 }

test('two are asked at once until one answers, and then one at a time until it is confirmed', async () => {
  const { ask, waves } = open({
    a: 'timeout',
    b: 'upstream',
    c: price,
    d: { price: 200 },
    e: { price: 300 },
    f: price,
    g: price,
  })
  const { provider, usedProviders } = await ask()
  expect(provider).toBe('c')
  expect(usedProviders).toEqual(['c', 'f', 'g'])
  expect(waves()).toEqual([['a', 'b'], ['c', 'd'], ['e'], ['f'], ['g']])
})

test('a provider for which no time is left is not asked, and its failure is not counted', async () => {
  const { ask, failed, waves } = open({
    a: 'hangs',
    b: 'hangs',
    c: 'hangs',
    d: 'hangs',
    e: 'hangs',
    f: 'hangs',
    g: price,
  })
  await expect(ask()).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' })
  expect(failed).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  expect(waves().flat()).not.toContain('g')
})

test('providers that failed are named as silent, and those that do not cover the item are not', async () => {
  const { ask } = open({ a: price, b: 'not_covered', c: 'timeout', d: price })
  const { observation } = await ask()
  expect(observation.meta).toMatchObject({ agreement: { kind: 'agreed', silent: ['c'] } })
})

test('more than 20 fields that differ are named by their family', async () => {
  const seriesOf = (count: number, value: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, day) => [`volume ${day}`, value]))
  const differed = async (count: number) => {
    const stage = open({
      a: { ...price, ...seriesOf(count, 1) },
      b: { ...price, ...seriesOf(count, 2) },
      c: { ...price, ...seriesOf(count, 1) },
    })
    Object.assign(stage.policy.tolerances, { volume: { percent: 1 } })
    const { observation } = await stage.ask()
    const { agreement } = Object(observation.meta)
    return agreement.differed[0].fields
  }
  expect(await differed(21)).toEqual(['volume'])
  expect(await differed(20)).toHaveLength(20)
})

test('an item can be confirmed by a second provider, or by the value on which sources agreed last', () => {
  const { policy, providers, lastKnown } = open({ a: price, b: price })
  const why = (ready: readonly string[]) =>
    whyUnconfirmable(
      providers.map((one) => ({ ...one, whyUnavailable: () => (ready.includes(one.name) ? undefined : 'rests') })),
      policy,
      'item',
    )
  expect([why(['a', 'b']), why(['a']) !== undefined]).toEqual([undefined, true])
  lastKnown.remember('item', price)
  expect(why(['a'])).toBeUndefined()
})

test('probes ask the known items in turn', async () => {
  const asked: string[] = []
  const provider: Provider<string, string> = {
    name: 'a',
    whyUnavailable: () => undefined,
    ask(query) {
      asked.push(query)
      return Promise.reject(new UpstreamFailure('upstream', 'down'))
    },
  }
  let nowMs = 0
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const { liveness } = createSource(
    { clock, sampleUpstreams: false, isProbed: true },
    {
      what: 'an item',
      providers: [provider],
      keyOf: (query) => query,
      known: ['first', 'second'],
      freshMs: 1,
      staleMs: 1,
      ageMaxMs: 1,
    },
  )
  for (let probe = 1; probe <= 3; probe++, nowMs += 60_000) await liveness.probe()
  expect(asked).toEqual(['first', 'second', 'first'])
})

test('a probe that an adapter answers from its storage does not show that the provider works', async () => {
  const now = { ms: 1_000_000 }
  const clock = { ...systemClock, nowMs: () => now.ms, monotonicMs: () => now.ms }
  const provider: Provider<string, string> = {
    name: 'a',
    whyUnavailable: () => undefined,
    ask: (query) => Promise.resolve({ data: query, asOfMs: now.ms, fetchedAtMs: storedAtMs }),
  }
  let storedAtMs = now.ms - 4_001
  const { liveness } = createSource(
    { clock, sampleUpstreams: false, isProbed: true },
    { what: 'an item', providers: [provider], keyOf: String, known: ['a'], freshMs: 1, staleMs: 1, ageMaxMs: 60_000 },
  )
  await liveness.probe()
  expect(liveness.someAnswer()).toBe(false)
  now.ms += 60_000
  storedAtMs = now.ms
  await liveness.probe()
  expect(liveness.someAnswer()).toBe(true)
})

import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { createLiveness } from '../../src/product/liveness.ts'
import { type FailureKind, UpstreamFailure } from '../../src/product/upstreamFailure.ts'

const minute = 60_000

/**
 * Providers whose probes answer until `failing` has a kind for them. Whole milliseconds shorten each pause by a
 * quarter.
 */
function open(providers: readonly { readonly name: string; readonly isMetered?: boolean }[]) {
  let nowMs = 0
  const asked: string[] = []
  const failing = new Map<string, FailureKind>()
  const resting = new Set<string>()
  const liveness = createLiveness(
    { clock: { ...systemClock, monotonicMs: () => nowMs }, isProbed: true },
    providers.map((provider) => ({
      ...provider,
      whyUnavailable: () => (resting.has(provider.name) ? 'resting' : undefined),
      probe() {
        asked.push(provider.name)
        const kind = failing.get(provider.name)
        return kind === undefined ? Promise.resolve(true) : Promise.reject(new UpstreamFailure(kind, kind))
      },
    })),
  )
  const forward = (durationMs: number) => (nowMs += durationMs)
  const probe = async () => {
    asked.length = 0
    if (liveness.isDue()) await liveness.probe()
    return [...asked]
  }
  return { liveness, failing, resting, forward, probe }
}

const two = [{ name: 'a' }, { name: 'b' }]

test('probes end at the first provider that works, and begin again half an hour after its last answer', async () => {
  const { liveness, probe, forward } = open(two)
  expect(liveness.someAnswer()).toBe(false)
  expect(await probe()).toEqual(['a'])
  expect([liveness.answers('a'), liveness.answers('b'), liveness.someAnswer()]).toEqual([true, false, true])
  forward(20 * minute)
  liveness.noteAnswer('a')
  forward(30 * minute - 1)
  expect(await probe()).toEqual([])
  forward(1)
  expect(await probe()).toEqual(['a'])
})

test('while none works, all are probed after 3, 6, 12, 24 and 45 seconds, and then every 45 seconds', async () => {
  const { failing, probe, forward } = open(two)
  failing.set('a', 'timeout').set('b', 'upstream')
  expect(await probe()).toEqual(['a', 'b'])
  for (const seconds of [3, 6, 12, 24, 45, 45]) {
    forward(seconds * 1_000 - 1)
    expect(await probe()).toEqual([])
    forward(1)
    expect(await probe()).toEqual(['a', 'b'])
  }
})

test('a metered provider is probed last, and once in 15 minutes', async () => {
  const { failing, probe, forward } = open([{ name: 'paid', isMetered: true }, { name: 'free' }])
  failing.set('paid', 'timeout').set('free', 'timeout')
  expect(await probe()).toEqual(['free', 'paid'])
  forward(15 * minute - 1)
  expect(await probe()).toEqual(['free'])
  forward(minute)
  expect(await probe()).toEqual(['free', 'paid'])
})

test.each<[FailureKind, boolean]>([
  ['rate_limited', false],
  ['resting', false],
  ['not_found', false],
  ['not_covered', false],
  ['incomplete', false],
  ['bad_payload', true],
  ['timeout', true],
  ['auth', true],
])('a provider that failed a buyer with %s is probed: %s', async (kind, isProbed) => {
  const { liveness, failing, probe, forward } = open(two)
  await probe()
  forward(10_000)
  liveness.noteFailure('a', new UpstreamFailure(kind, kind))
  expect(liveness.answers('a')).toBe(true)
  failing.set('a', 'upstream')
  expect(await probe()).toEqual(isProbed ? ['a', 'b'] : [])
  expect(liveness.answers('a')).toBe(!isProbed)
})

test('a probe that meets a limit changes nothing, and a resting provider is not probed', async () => {
  const { liveness, failing, resting, probe, forward } = open([{ name: 'a' }])
  await probe()
  failing.set('a', 'rate_limited')
  forward(30 * minute)
  expect(await probe()).toEqual(['a'])
  expect(liveness.answers('a')).toBe(true)
  failing.set('a', 'not_found')
  forward(10_000)
  resting.add('a')
  expect(await probe()).toEqual([])
  resting.clear()
  expect(await probe()).toEqual(['a'])
  expect(liveness.someAnswer()).toBe(false)
})

import { expect, test } from 'vitest'
import { silentLog } from '../../src/machine/log.ts'
import type { Endpoint, Supplier } from '../../src/product/endpoint.ts'
import { openSupply } from '../../src/start/products/openSupply.ts'
import { steppedClock } from '../support/steppedClock.ts'

const suppliers = new Map<string, Supplier>()

function endpointAt(path: string, { providers = ['P'], probe = () => Promise.resolve() } = {}): Endpoint {
  const target = { isDue: () => true, probe }
  // The supply reads only these members of an endpoint.
  return {
    path,
    providers,
    probes: providers.length === 0 ? [] : [target],
    suppliedBy: () => suppliers.get(path) ?? 'none',
  } as unknown as Endpoint
}

test('a product without a working provider is named, and one without providers is never missing', async () => {
  const clock = steppedClock()
  const endpoints = [endpointAt('/a'), endpointAt('/b'), endpointAt('/own', { providers: [] })]
  suppliers.set('/a', 'providers').set('/b', 'samples')
  const supply = await openSupply({ clock, log: silentLog, endpoints, hasStandIns: false })
  expect([supply.check.problem(), supply.sampled()]).toEqual([undefined, ['/b']])
  expect(supply.check.facts()).toEqual({ '/a': 'providers', '/b': 'samples' })
  suppliers.set('/a', 'none').set('/b', 'none')
  expect([supply.check.problem(), supply.sampled()]).toEqual(['no provider answers for /a, /b', []])
  await supply.close()
})

test.each([
  [true, 3, 'samples that supply every product after a while'],
  [true, 200, 'samples that never do, for ten seconds'],
  [false, 0, 'no samples'],
])(
  'after five seconds for a slow provider, the start waits for samples (%s): %i polls, %s',
  async (hasStandIns, polls) => {
    suppliers.set('/slow', 'none')
    const slept: number[] = []
    let nowMs = 0
    const clock = {
      nowMs: () => nowMs,
      monotonicMs: () => nowMs,
      sleep(durationMs: number) {
        slept.push(durationMs)
        nowMs += durationMs
        if (slept.filter((each) => each === 50).length === polls && polls < 200) suppliers.set('/slow', 'samples')
        return Promise.resolve()
      },
    }
    const endpoints = [endpointAt('/slow', { probe: () => new Promise<void>(() => undefined) })]
    const supply = await openSupply({ clock, log: silentLog, endpoints, hasStandIns })
    expect(slept.filter((each) => each === 50)).toHaveLength(polls)
    expect(slept).toContain(5_000)
    await supply.close()
  },
)

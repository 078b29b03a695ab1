import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startProbeJob } from '../../src/jobs/probeJob.ts'
import { silentLog } from '../../src/machine/log.ts'
import { steppedClock } from '../support/steppedClock.ts'

/** A provider whose probe ends when the test says so. */
function provider() {
  const state = { isDue: true, probes: 0, ended: Promise.withResolvers<void>() }
  const probe = () => {
    state.probes += 1
    return state.ended.promise
  }
  return { state, target: { isDue: () => state.isDue, probe } }
}

test('the first run probes every due provider at once, and no provider is probed again before it has ended', async () => {
  const [one, other, resting] = [provider(), provider(), provider()]
  resting.state.isDue = false
  const clock = steppedClock()
  const job = startProbeJob({ clock, log: silentLog }, [one.target, other.target, resting.target])
  const probes = () => [one, other, resting].map(({ state }) => state.probes)
  expect(probes()).toEqual([1, 1, 0])
  one.state.ended.resolve()
  const stepped = clock.step()
  await setImmediate()
  expect(probes(), 'the first run has not ended').toEqual([1, 1, 0])
  other.state.ended.resolve()
  await job.firstRun
  await stepped
  expect(probes()).toEqual([2, 2, 0])
  await job.stop()
})

test('a stop does not wait for a probe that hangs', async () => {
  const { state, target } = provider()
  const job = startProbeJob({ clock: steppedClock(), log: silentLog }, [target])
  expect(state.probes).toBe(1)
  await job.stop()
  await job.firstRun
})

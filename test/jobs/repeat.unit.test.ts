import { expect, test } from 'vitest'
import { silentLog } from '../../src/machine/log.ts'
import { repeat, stopAll } from '../../src/jobs/repeat.ts'
import { steppedClock } from '../support/steppedClock.ts'

test('an instance that was not elected asks again within 5 s, and after its own turn at its own pace', async () => {
  const clock = steppedClock()
  const startedAtMs = clock.nowMs()
  const askedAfterMs: number[] = []
  const elected = [false, false, true, true]
  const task = repeat(
    { clock, log: silentLog },
    {
      name: 'test',
      everyMs: 60_000,
      run: () => {
        askedAfterMs.push(clock.nowMs() - startedAtMs)
        return Promise.resolve(elected[askedAfterMs.length - 1])
      },
    },
  )
  for (let step = 0; step < 4; step++) await clock.step()
  await task.stop()
  expect(askedAfterMs).toEqual([60_000, 65_000, 70_000, 130_000])
})

test('a job that fails to stop keeps no other from stopping', async () => {
  const stopped: string[] = []
  const jobs = [
    { stop: () => Promise.reject(new Error('the first one failed')) },
    {
      async stop() {
        await Promise.resolve()
        stopped.push('second')
      },
    },
  ]
  await expect(stopAll(jobs)).rejects.toThrow('1 jobs did not stop')
  expect(stopped).toEqual(['second'])
})

import { expect, test } from 'vitest'
import { silentLog } from '../../src/machine/log.ts'
import { recordStep } from '../../src/jobs/recordStep.ts'
import { repeat, stopAll } from '../../src/jobs/repeat.ts'
import { startWatch } from '../../src/jobs/watch.ts'
import { unknownPayment } from '../../src/payment/payment.ts'
import { referenceNumber } from '../payment/paymentStory.ts'
import { steppedClock } from '../support/steppedClock.ts'
import { heldClock, lifecycleWith } from './jobFixture.ts'

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

test('a problem that lasts is one line in the log, and its end is another', async () => {
  const clock = steppedClock()
  const lines: object[] = []
  const found: (string | undefined)[] = [undefined, 'slow', 'slow', 'slow', undefined]
  const watch = await startWatch(
    { clock, log: { ...silentLog, warn: (line: object) => void lines.push(line) } },
    { name: 'test', event: 'changed', find: () => Promise.resolve({ problem: found.shift() }) },
  )
  const problems = [watch.problem()]
  for (let step = 0; step < 4; step++) {
    await clock.step()
    problems.push(watch.problem())
  }
  await watch.stop()
  expect(problems).toEqual([undefined, 'slow', 'slow', 'slow', undefined])
  expect(lines).toEqual([
    { event: 'changed', problem: 'slow' },
    { event: 'changed', problem: 'none' },
  ])
})

test('a step that another instance recorded first is not counted by this one', async () => {
  const counted: string[] = []
  const record = (outcome: 'appended' | 'conflict') =>
    recordStep(
      {
        clock: heldClock,
        log: silentLog,
        payments: { append: () => Promise.resolve(Object.assign(Object.create(null), { outcome })) },
        lifecycle: lifecycleWith({}),
        onStep: (step) => void counted.push(step),
      },
      {
        kind: 'finalized',
        reference: referenceNumber(1),
        before: unknownPayment,
        decision: { step: 'payment.finalize', events: [] },
      },
    )
  expect([await record('conflict'), await record('appended')]).toEqual([false, true])
  expect(counted).toEqual(['finalized'])
})

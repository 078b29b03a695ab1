import { expect, test } from 'vitest'
import { Fault } from '@tollbook/core/fault'
import { startHousekeepingJob } from '../../src/jobs/housekeepingJob.ts'
import { silentLog } from '../../src/machine/log.ts'
import { steppedClock } from '../support/steppedClock.ts'

test('housekeeping that fails at one step does the others', async () => {
  const clock = steppedClock()
  const done: string[] = []
  const note = (step: string) => () => {
    done.push(step)
    return Promise.resolve()
  }
  const job = await startHousekeepingJob({
    clock,
    log: silentLog,
    addPartitions: note('partitions'),
    forgetOldAnswers: () =>
      Promise.reject(new Fault('canceling statement due to statement timeout', { retryable: true })),
    forgetOldPresentations: note('presentations'),
  })
  await clock.step()
  await job.stop()
  expect(done).toEqual(['partitions', 'partitions', 'presentations'])
})

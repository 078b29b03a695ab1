import { expect, test } from 'vitest'
import { startQuoteRetentionJob } from '../../src/jobs/quoteRetentionJob.ts'
import { createLog } from '../../src/machine/log.ts'
import { steppedClock } from '../support/steppedClock.ts'

test('old quotes are dropped each hour, not by a wrong clock, and a failure is logged and repeated', async () => {
  const clock = steppedClock()
  const events: unknown[] = []
  const destination = { write: (line: string) => void events.push(JSON.parse(line).event) }
  const state = { drops: 0, shown: 0, clockProblem: 'the clocks differ' as string | undefined }
  const job = startQuoteRetentionJob({
    clock,
    log: createLog({ level: 'info', name: 'test', destination }),
    dropOldQuotes: () => {
      state.drops++
      return state.drops === 1 ? Promise.reject(new Error('the table is locked')) : Promise.resolve(['quotes_20261101'])
    },
    showQuoteStorage: () => {
      state.shown++
      return Promise.resolve()
    },
    clockProblem: () => state.clockProblem,
  })

  await clock.step()
  expect(state).toMatchObject({ drops: 0, shown: 1 })
  state.clockProblem = undefined
  for (let minute = 0; minute < 60; minute++) await clock.step()
  expect(state).toMatchObject({ drops: 1, shown: 61 })
  await clock.step()
  expect(state.drops).toBe(2)
  expect(events).toEqual(['quotes_not_dropped', 'quotes_dropped'])
  await job.stop()
})

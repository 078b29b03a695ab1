import { expect, test } from 'vitest'
import { silentLog } from '../../src/machine/log.ts'
import { startClockHealth } from '../../src/jobs/clockHealth.ts'
import { steppedClock } from '../support/steppedClock.ts'

test.each([
  [29_000, undefined],
  [-29_000, undefined],
  [900_000, 'the clock of the database is 900 s ahead of the clock of this server'],
  [-900_000, 'the clock of the database is 900 s behind the clock of this server'],
])('a database clock %d ms away from the server is judged', async (differenceMs, problem) => {
  const clock = steppedClock()
  let awayMs = 0
  const health = await startClockHealth({
    clock,
    log: silentLog,
    readDatabaseClockMs: () => Promise.resolve(clock.nowMs() + awayMs),
  })
  expect(health.problem()).toBeUndefined()
  awayMs = differenceMs
  await clock.step()
  expect(health.problem()).toBe(problem)
  awayMs = 0
  await clock.step()
  expect(health.problem()).toBeUndefined()
  await health.stop()
})

test('a clock that is wrong at start is known when the start ends', async () => {
  const clock = steppedClock()
  const readDatabaseClockMs = () => Promise.resolve(clock.nowMs() + 60_000)
  const health = await startClockHealth({ clock, log: silentLog, readDatabaseClockMs })
  expect(health.problem()).toContain('60 s ahead')
  await health.stop()
})

test('a question that takes a minute is not a difference of the clocks', async () => {
  const clock = steppedClock()
  let nowMs = clock.nowMs()
  const readDatabaseClockMs = () => {
    const databaseMs = nowMs + 50_000
    nowMs += 60_000
    return Promise.resolve(databaseMs)
  }
  const health = await startClockHealth({
    clock: { ...clock, nowMs: () => nowMs },
    log: silentLog,
    readDatabaseClockMs,
  })
  expect(health.problem()).toBeUndefined()
  await health.stop()
})

import { expect, test } from 'vitest'
import { createRateLimit, type RateReport, type RateTotal } from '../../src/transport/rateLimit.ts'
import { startRateSharing } from '../../src/transport/shareRates.ts'
import { createLog, silentLog } from '../../src/machine/log.ts'
import { steppedClock } from '../support/steppedClock.ts'

test('while the database is away an instance goes on with its own counts, and says so once', async () => {
  const clock = steppedClock()
  const events: unknown[] = []
  const destination = { write: (line: string) => void events.push(JSON.parse(line).event) }
  const log = createLog({ level: 'info', name: 'test', destination })
  const limit = createRateLimit({ name: 'requests', max: 10, windowMs: 60_000 }, () => clock.nowMs())
  let isAway = false
  const shareRates = (reports: readonly RateReport[]): Promise<readonly RateTotal[]> =>
    isAway
      ? Promise.reject(new Error('away'))
      : Promise.resolve(reports.map(({ name, client, window }) => ({ name, client, window, total: 8 })))
  const sharing = startRateSharing({ clock, log, shareRates }, limit)

  limit.take('busy')
  isAway = true
  for (let step = 0; step < 3; step++) {
    await clock.step()
    expect(limit.take('busy').isAllowed).toBe(true)
  }
  isAway = false
  await clock.step()

  // Four here and four elsewhere.
  expect(limit.take('busy').remaining).toBe(1)
  expect(events).toEqual(['limits_not_shared', 'limits_shared_again'])
  await sharing.stop()
})

test('counts that could not be shared are part of the next report', async () => {
  const clock = steppedClock()
  const limit = createRateLimit({ name: 'requests', max: 10, windowMs: 60_000 }, () => clock.nowMs())
  const shared: number[] = []
  let isAway = true
  const shareRates = (reports: readonly RateReport[]): Promise<readonly RateTotal[]> => {
    if (isAway) return Promise.reject(new Error('away'))
    shared.push(...reports.map(({ more }) => more))
    return Promise.resolve([])
  }
  const sharing = startRateSharing({ clock, log: silentLog, shareRates }, limit)
  limit.take('busy')
  limit.take('busy')
  await clock.step()
  isAway = false
  limit.take('busy')
  await clock.step()

  expect(shared).toEqual([3])
  await sharing.stop()
})

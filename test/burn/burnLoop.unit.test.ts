import { expect, test } from 'vitest'
import { burnUntilStopped } from '../../src/burn/burnLoop.ts'
import type { BurnOutcome } from '../../src/burn/burnRound.ts'
import { silentLog } from '../../src/machine/log.ts'
import { signatureNumber } from '../jobs/jobFixture.ts'

const hourMs = 3_600_000
const minuteMs = 60_000
const settled = { round: 1, signature: signatureNumber(1), baseUnits: 5n }

/** Sleeps of a job that is stopped after its first run. */
async function waitAfter(run: () => Promise<BurnOutcome>, everyMs = hourMs): Promise<readonly number[]> {
  const stopping = new AbortController()
  const waits: number[] = []
  const clock = {
    nowMs: () => 0,
    monotonicMs: () => 0,
    sleep(durationMs: number) {
      waits.push(durationMs)
      stopping.abort()
      return Promise.resolve()
    },
  }
  await burnUntilStopped({ burner: { burnOnce: run }, clock, log: silentLog, everyMs }, stopping.signal)
  return waits
}

test.each<[BurnOutcome, number]>([
  [{ outcome: 'nothing_owed' }, hourMs],
  [{ ...settled, outcome: 'confirmed' }, hourMs],
  [{ ...settled, outcome: 'failed' }, minuteMs],
  [{ ...settled, outcome: 'waiting' }, minuteMs],
  [{ outcome: 'overtaken' }, minuteMs],
])('after %o the job waits %i ms', async (outcome, waitMs) => {
  expect(await waitAfter(() => Promise.resolve(outcome))).toEqual([waitMs])
})

test('a run that throws is repeated after a minute, and never later than the interval', async () => {
  const broken = () => Promise.reject(new Error('the database is away'))
  expect(await waitAfter(broken)).toEqual([minuteMs])
  expect(await waitAfter(broken, 10_000)).toEqual([10_000])
})

import type { Clock } from '@tollbook/core/clock'
import type { RepeatDeps } from './repeat.ts'
import { startWatch, type Watch } from './watch.ts'

export interface ClockHealthDeps extends RepeatDeps {
  readonly readDatabaseClockMs: () => Promise<number>
}

// Maximum difference between the clocks: half of the difference that leases tolerate (payment/paymentUse.ts). Machines
// with a time server differ by milliseconds.
const differenceMaxMs = 30_000

/**
 * Compares the clocks of server and database. Paid routes close while the clocks disagree, because a wrong clock
 * refuses fresh payments and accepts expired quotes.
 */
export function startClockHealth(deps: ClockHealthDeps): Promise<Watch> {
  const find = async () => ({ problem: problemOf(await measureDifferenceMs(deps.clock, deps.readDatabaseClockMs)) })
  return startWatch(deps, { name: 'clock health', event: 'clock_health_changed', find })
}

/**
 * Returns a lower bound of the difference, because the database read its clock at an unknown time between the question
 * and the answer. 0 if the clocks may agree.
 */
async function measureDifferenceMs(clock: Clock, readDatabaseClockMs: () => Promise<number>): Promise<number> {
  const askedAtMs = clock.nowMs()
  const databaseMs = await readDatabaseClockMs()
  const answeredAtMs = clock.nowMs()
  if (databaseMs > answeredAtMs) return databaseMs - answeredAtMs
  return databaseMs < askedAtMs ? databaseMs - askedAtMs : 0
}

function problemOf(differenceMs: number): string | undefined {
  if (Math.abs(differenceMs) <= differenceMaxMs) return undefined
  const seconds = Math.round(Math.abs(differenceMs) / 1000)
  return `the clock of the database is ${seconds} s ${differenceMs > 0 ? 'ahead of' : 'behind'} the clock of this server`
}

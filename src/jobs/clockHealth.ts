import type { Clock } from '@tollbook/core/clock'
import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface ClockHealth extends Repeated {
  /** Undefined while the clocks agree. */
  problem(): string | undefined
}

export interface ClockHealthDeps extends RepeatDeps {
  readonly readDatabaseClockMs: () => Promise<number>
}

const everyMs = 5_000
// Half of the difference that leases rely on (payment/paymentUse.ts). Machines that follow a time server differ by milliseconds.
const differenceMaxMs = 30_000

/** A wrong clock refuses fresh payments and honours expired quotes, so paid routes close while clocks disagree. */
export async function startClockHealth(deps: ClockHealthDeps): Promise<ClockHealth> {
  let problem: string | undefined
  const look = async (): Promise<void> => {
    const found = problemOf(await measureDifferenceMs(deps.clock, deps.readDatabaseClockMs))
    if (found !== problem) deps.log.warn({ event: 'clock_health_changed', problem: found ?? 'none' })
    problem = found
  }
  await look()
  const task = repeat(deps, { name: 'clock health', everyMs, run: look })
  return { problem: () => problem, stop: () => task.stop() }
}

/** Database minus server, as far as it is certain: the answer was made at some time between question and arrival. */
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

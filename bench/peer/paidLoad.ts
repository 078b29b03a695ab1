import { systemClock } from '@tollbook/core/clock'
import { callsPerSecond } from '../callers.ts'
import { median } from '../yardstick.ts'

export interface PaidLoadOptions {
  readonly callers: number
  readonly seconds: number
  readonly call: () => Promise<void>
  /** Processor time so far. */
  readonly serverMs: () => Promise<number>
  readonly databaseMs: () => Promise<number>
}

export interface PaidLoad {
  readonly p50Ms: number
  readonly perSecond: number
  /** Processor time of one request. */
  readonly serverMs: number
  readonly databaseMs: number
}

export async function measurePaidLoad(options: PaidLoadOptions): Promise<PaidLoad> {
  const { callers, seconds, call } = options
  const before = { server: await options.serverMs(), database: await options.databaseMs() }
  const durations: number[] = []
  const timed = async (): Promise<void> => {
    const startedAtMs = systemClock.monotonicMs()
    await call()
    durations.push(systemClock.monotonicMs() - startedAtMs)
  }
  const perSecond = await callsPerSecond(callers, seconds, timed)
  const after = { server: await options.serverMs(), database: await options.databaseMs() }
  return {
    p50Ms: median(durations),
    perSecond,
    serverMs: (after.server - before.server) / durations.length,
    databaseMs: (after.database - before.database) / durations.length,
  }
}

import { setTimeout as delay } from 'node:timers/promises'

/** The clock is an argument, so that tests can control the time. */
export interface AuditClock {
  /** Milliseconds of a clock that never goes back. Only differences are meaningful. */
  monotonicMs(): number
  sleep(durationMs: number): Promise<void>
}

export const hostClock: AuditClock = {
  monotonicMs: () => performance.now(),
  sleep: (durationMs) => delay(durationMs),
}

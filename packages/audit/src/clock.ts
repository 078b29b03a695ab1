import { setTimeout as delay } from 'node:timers/promises'

/** Clock of the audit. It is an argument, so that tests can control the time. */
export interface AuditClock {
  /** Returns milliseconds from an arbitrary start, never decreasing. Only differences are meaningful. */
  monotonicMs(): number
  sleep(durationMs: number): Promise<void>
}

export const hostClock: AuditClock = {
  monotonicMs: () => performance.now(),
  sleep: (durationMs) => delay(durationMs),
}

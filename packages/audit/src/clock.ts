import { setTimeout as delay } from 'node:timers/promises'

/** Time as an argument, so that a test can hold it still. */
export interface AuditClock {
  /** Milliseconds on a clock that never goes back; only differences mean something. */
  monotonicMs(): number
  /** Rejects when the signal is aborted first. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>
}

export const hostClock: AuditClock = {
  monotonicMs: () => performance.now(),
  sleep: (durationMs, signal) => delay(durationMs, undefined, { signal }),
}

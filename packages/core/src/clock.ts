import { setTimeout as delay } from 'node:timers/promises'

/** Time enters the program here and nowhere else, so that a test can hold it still. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  nowMs(): number
  /** Milliseconds on a clock that never goes back; only differences mean something. */
  monotonicMs(): number
  /** Resolves after the time has passed; rejects with the signal's reason when it is aborted first. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (durationMs, signal) => delay(durationMs, undefined, signal === undefined ? {} : { signal }),
}

/** ISO 8601 in UTC with milliseconds, the only form of time in bodies and answers. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

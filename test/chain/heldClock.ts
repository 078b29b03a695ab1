import type { Clock } from '@tollbook/core/clock'

/** Time that passes only during sleeps or when a test advances it. */
export interface HeldClock extends Clock {
  advance(durationMs: number): void
  /** Called for each sleep, after the time has passed; for concurrent actions of the test. */
  onSleep(meanwhile: () => void): void
}

export function createHeldClock(startMs: number): HeldClock {
  let nowMs = startMs
  let meanwhile: () => void = () => undefined
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep(durationMs) {
      nowMs += durationMs
      meanwhile()
      return Promise.resolve()
    },
    advance(durationMs) {
      nowMs += durationMs
    },
    onSleep(then) {
      meanwhile = then
    },
  }
}

import type { Clock } from '@tollbook/core/clock'

/** Time that passes only when somebody sleeps or a test says so. */
export interface HeldClock extends Clock {
  advance(durationMs: number): void
  /** Called whenever somebody sleeps, once the time has passed; for what goes on meanwhile. */
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

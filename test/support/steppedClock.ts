import type { Clock } from '../../src/primitives/clock.ts'

/** Time that passes when the test says so. */
export interface SteppedClock extends Clock {
  /** Wakes whoever sleeps, and comes back when they sleep again. */
  step(): Promise<void>
}

export function steppedClock(): SteppedClock {
  let nowMs = 1_790_000_000_000
  let sleepers: (() => void)[] = []
  let asleep = Promise.withResolvers<void>()
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep(durationMs, signal) {
      return new Promise((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
        sleepers.push(() => {
          nowMs += durationMs
          resolve()
        })
        asleep.resolve()
      })
    },
    async step() {
      await asleep.promise
      const waking = sleepers
      sleepers = []
      asleep = Promise.withResolvers()
      for (const wake of waking) wake()
      await asleep.promise
    },
  }
}

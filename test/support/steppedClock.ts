import type { Clock } from '@tollbook/core/clock'

/** Time that passes when the test says so. */
export interface SteppedClock extends Clock {
  /** Wakes the sleepers, and returns when all of them sleep again. */
  step(): Promise<void>
}

interface Sleeper {
  readonly durationMs: number
  readonly wake: () => void
}

export function steppedClock(): SteppedClock {
  let nowMs = 1_790_000_000_000
  let sleepers = new Set<Sleeper>()
  let awaited = 1
  let asleep = Promise.withResolvers<void>()
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep(durationMs, signal) {
      return new Promise((resolve, reject) => {
        const sleeper = { durationMs, wake: resolve }
        const leave = () => {
          sleepers.delete(sleeper)
          reject(signal?.reason)
        }
        signal?.addEventListener('abort', leave, { once: true })
        sleepers.add(sleeper)
        if (sleepers.size >= awaited) asleep.resolve()
      })
    },
    async step() {
      await asleep.promise
      const waking = [...sleepers]
      sleepers = new Set()
      awaited = waking.length
      asleep = Promise.withResolvers()
      nowMs += Math.max(...waking.map(({ durationMs }) => durationMs))
      for (const { wake } of waking) wake()
      await asleep.promise
    },
  }
}

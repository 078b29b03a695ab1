import { systemClock, type Clock } from '@tollbook/core/clock'

/** Real time, and more of it whenever a test says so. */
export interface ShiftedClock extends Clock {
  /** Sleepers that would be awake by then wake now. */
  advance(durationMs: number): void
}

export function shiftedClock(): ShiftedClock {
  let shiftMs = 0
  const sleepers = new Map<() => void, number>()
  const monotonicMs = () => systemClock.monotonicMs() + shiftMs
  return {
    nowMs: () => systemClock.nowMs() + shiftMs,
    monotonicMs,
    async sleep(durationMs, signal) {
      const woken = Promise.withResolvers<void>()
      const ended = new AbortController()
      const ends = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal])
      sleepers.set(woken.resolve, monotonicMs() + durationMs)
      try {
        await Promise.race([woken.promise, systemClock.sleep(durationMs, ends)])
      } finally {
        sleepers.delete(woken.resolve)
        ended.abort()
      }
    },
    advance(durationMs) {
      shiftMs += durationMs
      for (const [wake, atMs] of sleepers) if (atMs <= monotonicMs()) wake()
    },
  }
}

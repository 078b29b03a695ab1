import { systemClock, type Clock } from '@tollbook/core/clock'

/** Real time, and more of it whenever a test says so. */
export interface ShiftedClock extends Clock {
  /** Sleepers that would be awake by then wake now. */
  advance(durationMs: number): void
  /** Stops real time, so that a slow machine does not add to `advance`; sleepers do sleep. False: it passes again. */
  hold(isHeld: boolean): void
}

export function shiftedClock(): ShiftedClock {
  let shiftMs = 0
  const sleepers = new Map<() => void, number>()
  let heldMs: number | undefined
  // Whole milliseconds, whose sums are exact. Otherwise a limit might not have passed after `advance` by that limit.
  const realMs = () => Math.floor(systemClock.monotonicMs())
  const monotonicMs = () => (heldMs ?? realMs()) + shiftMs
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
    hold(isHeld) {
      heldMs = isHeld ? realMs() : undefined
    },
    advance(durationMs) {
      shiftMs += durationMs
      for (const [wake, atMs] of sleepers) if (atMs <= monotonicMs()) wake()
    },
  }
}

import type { Clock } from '@tollbook/core/clock'

/** Time that passes only during waits. */
export interface VirtualClock extends Clock {
  /** Pauses between the attempts, in order. */
  readonly pausesMs: readonly number[]
  /** Ends the time limits that are running now. */
  expire(): void
}

// Pauses between attempts are shorter than this, time limits longer: a pause is over at once, a limit when the test
// says so.
const limitsFromMs = 20_000

export function createVirtualClock(): VirtualClock {
  let elapsedMs = 0
  const startedAtMs = Date.now()
  const pausesMs: number[] = []
  const limits = new Set<() => void>()
  return {
    pausesMs,
    nowMs: () => startedAtMs + elapsedMs,
    monotonicMs: () => elapsedMs,
    sleep(durationMs, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const over = () => {
        elapsedMs += durationMs
        resolve()
      }
      signal?.addEventListener('abort', () => {
        limits.delete(over)
        reject(signal.reason)
      })
      if (signal?.aborted === true) reject(signal.reason)
      else if (durationMs >= limitsFromMs) limits.add(over)
      else {
        pausesMs.push(durationMs)
        over()
      }
      return promise
    },
    expire() {
      const running = [...limits]
      limits.clear()
      for (const over of running) over()
    },
  }
}

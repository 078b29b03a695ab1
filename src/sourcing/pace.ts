import type { Clock } from '@tollbook/core/clock'

export interface PaceLimit {
  readonly requests: number
  readonly perSeconds: number
}

/** Sliding window: never more than this many calls in any interval of this many seconds. */
export interface Pace {
  isFull(): boolean
  /** False when it is full; nothing is counted then. */
  take(): boolean
}

/** A sliding window over the latest calls. `take` is false at the limit, and then counts nothing. */
export function createPace(clock: Clock, { requests, perSeconds }: PaceLimit): Pace {
  // The times of the latest calls, oldest first: as many as the limit, which is hundreds at most.
  const takenMs: number[] = []
  const isFull = () => {
    const [oldestMs] = takenMs
    return takenMs.length >= requests && oldestMs !== undefined && clock.monotonicMs() - oldestMs < perSeconds * 1000
  }
  return {
    isFull,
    take() {
      if (isFull()) return false
      if (takenMs.length >= requests) takenMs.shift()
      takenMs.push(clock.monotonicMs())
      return true
    },
  }
}

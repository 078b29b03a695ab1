import type { Clock } from '@tollbook/core/clock'

export interface PaceLimit {
  readonly requests: number
  readonly perSeconds: number
}

export type Pace = ReturnType<typeof createPace>

/** Creates a sliding window: at most this many calls in any interval of this many seconds. */
export function createPace(clock: Clock, { requests, perSeconds }: PaceLimit) {
  // Times of the latest calls, oldest first. At most as many as the limit, which is some hundreds.
  const takenMs: number[] = []
  const isFull = () => {
    const [oldestMs] = takenMs
    return takenMs.length >= requests && oldestMs !== undefined && clock.monotonicMs() - oldestMs < perSeconds * 1000
  }
  return {
    isFull,
    /** Returns false if the window is full; the call is then not counted. */
    take(): boolean {
      if (isFull()) return false
      if (takenMs.length >= requests) takenMs.shift()
      takenMs.push(clock.monotonicMs())
      return true
    },
  }
}

import type { Clock } from '@tollbook/core/clock'

export interface PaceLimit {
  readonly requests: number
  readonly perSeconds: number
}

export type Pace = ReturnType<typeof createPace>

/** In any interval of `perSeconds`, at most `requests` calls are allowed. */
export function createPace(clock: Clock, { requests, perSeconds }: PaceLimit) {
  // Oldest first. The length is bounded by `requests`.
  const takenMs: number[] = []
  const isFull = () => {
    const [oldestMs] = takenMs
    return takenMs.length >= requests && oldestMs !== undefined && clock.monotonicMs() - oldestMs < perSeconds * 1000
  }
  return {
    isFull,
    /** Returns false without counting if the window is full. */
    take(): boolean {
      if (isFull()) return false
      if (takenMs.length >= requests) takenMs.shift()
      takenMs.push(clock.monotonicMs())
      return true
    },
  }
}

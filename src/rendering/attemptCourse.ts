import type { Clock } from '@tollbook/core/clock'

/** Stages of an attempt with the time that each took, for the log: a failure shows where its time went. */
export interface AttemptCourse {
  enter(stage: string): void
  /** Such as `waiting 2900, loading 310`, in milliseconds; the last stage until now. */
  describe(): string
}

/** Stages of a job with their milliseconds, for the log of a failed job. */
export function startCourse(clock: Pick<Clock, 'monotonicMs'>, first: string): AttemptCourse {
  const past: string[] = []
  let current = { stage: first, sinceMs: clock.monotonicMs() }
  const upToNow = (): string => `${current.stage} ${Math.round(clock.monotonicMs() - current.sinceMs)}`
  return {
    enter(stage) {
      past.push(upToNow())
      current = { stage, sinceMs: clock.monotonicMs() }
    },
    describe: () => [...past, upToNow()].join(', '),
  }
}

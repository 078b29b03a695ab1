import type { Clock } from '@tollbook/core/clock'

/** Stages of an attempt with the duration of each, for the log of a failure. */
export interface AttemptCourse {
  enter(stage: string): void
  /** Text such as `waiting 2900, loading 310`, in milliseconds. The last stage counts until now. */
  describe(): string
}

/** Starts the record of an attempt with its first stage. */
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

import type { Clock } from '@tollbook/core/clock'

export interface SharedReadingDeps<T> {
  readonly clock: Clock
  /** Time during which a result is given to all callers. */
  readonly ageMaxMs: number
  readonly read: () => Promise<T>
}

/**
 * One reading at a time, and at most one in each span of `ageMaxMs`, whatever the number of callers: the cost of a public
 * read does not depend on who asks. A failure is shared by those who wait for it, and the next caller reads again.
 */
export function shareReading<T>({ clock, ageMaxMs, read }: SharedReadingDeps<T>): () => Promise<T> {
  let reading: Promise<T> | undefined
  let expiresAtMs = Number.POSITIVE_INFINITY
  return () => {
    if (reading !== undefined && clock.monotonicMs() < expiresAtMs) return reading
    // The age counts from the start: nothing older than it can be in the result.
    const startedAtMs = clock.monotonicMs()
    expiresAtMs = Number.POSITIVE_INFINITY
    const started = read()
    reading = started
    void started.then(
      () => {
        expiresAtMs = startedAtMs + ageMaxMs
      },
      () => {
        reading = undefined
      },
    )
    return started
  }
}

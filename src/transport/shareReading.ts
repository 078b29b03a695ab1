import type { Clock } from '@tollbook/core/clock'

export interface SharedReadingDeps<T> {
  readonly clock: Clock
  readonly ageMaxMs: number
  readonly read: () => Promise<T>
}

/**
 * Reads at most once in each span of `ageMaxMs`, so the cost of a public read does not depend on the number of callers.
 * If a reading fails, all callers who wait for it get the error, and the next caller reads again.
 */
export function shareReading<T>({ clock, ageMaxMs, read }: SharedReadingDeps<T>): () => Promise<T> {
  let reading: Promise<T> | undefined
  let expiresAtMs = Number.POSITIVE_INFINITY
  return () => {
    if (reading !== undefined && clock.monotonicMs() < expiresAtMs) return reading
    // Count the age from the start of the reading, because its data may be that old.
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

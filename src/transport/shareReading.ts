import type { Clock } from '@tollbook/core/clock'

export interface SharedReadingDeps<T> {
  readonly clock: Clock
  readonly ageMaxMs: number
  readonly read: () => Promise<T>
}

/**
 * Shares one reading between all callers, with at most one in each span of `ageMaxMs`. The cost of a public read
 * therefore does not depend on the number of callers. A failure goes to all callers who wait for it, and the next
 * caller reads again.
 */
export function shareReading<T>({ clock, ageMaxMs, read }: SharedReadingDeps<T>): () => Promise<T> {
  let reading: Promise<T> | undefined
  let expiresAtMs = Number.POSITIVE_INFINITY
  return () => {
    if (reading !== undefined && clock.monotonicMs() < expiresAtMs) return reading
    // The age counts from the start of the reading, so the result contains no older data.
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

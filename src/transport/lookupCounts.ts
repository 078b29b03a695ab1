import { createRateLimit, type RateLimit, type SharedCounts, sharedCountsOf } from './rateLimit.ts'

/** All instances share these counts, as they share the counts of requests. */
export interface LookupCounts extends SharedCounts {
  open(provider: string, perMinute: number): { take(): boolean }
}

const windowMs = 60_000
const everyone = 'all'

/**
 * Creates the counts of lookups at providers. A provider limits the service and not its callers, so all callers count
 * together.
 */
export function createLookupCounts(nowMs: () => number): LookupCounts {
  const limits: RateLimit[] = []
  return {
    ...sharedCountsOf(limits),
    open(provider, perMinute) {
      const limit = createRateLimit({ name: `lookups ${provider}`, max: perMinute, windowMs }, nowMs)
      limits.push(limit)
      return { take: () => limit.take(everyone).isAllowed }
    },
  }
}

import { createRateLimit, type RateLimit, type RateReport, type RateTotal } from './rateLimit.ts'

/** Lookups at providers, counted over all instances like the requests of callers. */
export interface LookupCounts {
  open(provider: string, perMinute: number): { take(): boolean }
  reports(): readonly RateReport[]
  restore(reports: readonly RateReport[]): void
  learn(totals: readonly RateTotal[]): void
}

const windowMs = 60_000
// The provider is the only client of its limit.
const everyone = 'all'

/** Counts lookups per provider over all callers together, because a provider limits the service and not its callers. */
export function createLookupCounts(nowMs: () => number): LookupCounts {
  const limits: RateLimit[] = []
  return {
    open(provider, perMinute) {
      const limit = createRateLimit({ name: `lookups ${provider}`, max: perMinute, windowMs }, nowMs)
      limits.push(limit)
      return { take: () => limit.take(everyone).isAllowed }
    },
    reports: () => limits.flatMap((limit) => limit.reports()),
    restore(reports) {
      for (const limit of limits) limit.restore(reports)
    },
    learn(totals) {
      for (const limit of limits) limit.learn(totals)
    },
  }
}

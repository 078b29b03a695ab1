/** The requests of the previous window count in proportion to its overlap with the sliding window. */
export interface RateLimitRule {
  /** Used in headers, metrics and the shared counts. */
  readonly name: string
  /** Requests of one client in a window. 0: no limit. */
  readonly max: number
  readonly windowMs: number
}

export interface RateStanding {
  readonly isAllowed: boolean
  readonly remaining: number
  readonly resetSeconds: number
  /** 0 if the request is allowed. */
  readonly retryAfterSeconds: number
}

/** Requests of a busy client since the last report, for the other instances. */
export interface RateReport {
  readonly name: string
  readonly client: string
  readonly window: number
  readonly more: number
  readonly endsAtMs: number
}

export interface RateTotal extends Pick<RateReport, 'name' | 'client' | 'window'> {
  readonly total: number
}

export interface RateLimit extends SharedCounts {
  readonly rule: RateLimitRule
  /** Counts the request, unless it is beyond the limit. */
  take(client: string): RateStanding
  giveBack(client: string): void
}

export interface SharedCounts {
  /** Requests since the last report, of clients that have used a tenth of the limit or have a negative count. */
  reports(): readonly RateReport[]
  /** Called if the requests could not be shared, so that the next report contains them. */
  restore(reports: readonly RateReport[]): void
  learn(totals: readonly RateTotal[]): void
}

export function sharedCountsOf(limits: readonly SharedCounts[]): SharedCounts {
  return {
    reports: () => limits.flatMap((each) => each.reports()),
    restore(reports) {
      for (const each of limits) each.restore(reports)
    },
    learn(totals) {
      for (const each of limits) each.learn(totals)
    },
  }
}

interface Count {
  /**
   * Requests at this instance, less those that `giveBack` returned. Negative if other instances counted the requests
   * and the client paid here.
   */
  own: number
  reported: number
  others: number
}

interface Window {
  readonly number: number
  readonly counts: Map<string, Count>
  /** Reused, because a new iterator would pass all dropped clients again. */
  readonly oldestFirst: Iterator<string>
}

function openWindow(number: number): Window {
  const counts = new Map<string, Count>()
  return { number, counts, oldestFirst: counts.keys() }
}

// Maximum of clients per window, because of the memory. For a flood from more clients, admission control applies.
const clientsMax = 100_000
// Tolerance for the rounding error of a sum of fractions of a window.
const roundingError = 1e-6
const reportedShare = 1 / 10
const reportsMax = 1_000

/**
 * Creates a rate limit. Two fixed windows approximate a sliding window. Counting is local and needs no round trip:
 * instances exchange the counts of busy clients in the background. Windows follow the wall clock, so they are the same
 * at all instances.
 */
export function createRateLimit(rule: RateLimitRule, nowMs: () => number): RateLimit {
  const { name, max, windowMs } = rule
  let current = openWindow(-Infinity)
  let previous = openWindow(-Infinity)

  function roll(): number {
    const now = nowMs()
    const number = Math.floor(now / windowMs)
    if (number !== current.number) {
      previous = number === current.number + 1 ? current : openWindow(number - 1)
      current = openWindow(number)
    }
    return now / windowMs - number
  }

  const usage = (client: string) => ({
    before: total(previous.counts.get(client)),
    now: total(current.counts.get(client)),
  })

  return {
    rule,
    take(client) {
      const elapsed = roll()
      const resetSeconds = seconds((1 - elapsed) * windowMs)
      if (max === 0) return { isAllowed: true, remaining: 0, resetSeconds, retryAfterSeconds: 0 }
      const { before, now } = usage(client)
      const used = before * (1 - elapsed) + now
      if (used + 1 > max + roundingError) {
        const wait = windowsToWait({ before, now, elapsed, max })
        return {
          isAllowed: false,
          remaining: 0,
          resetSeconds,
          retryAfterSeconds: Math.max(1, seconds(wait * windowMs)),
        }
      }
      countOf(current, client).own++
      return { isAllowed: true, remaining: Math.floor(max - used - 1), resetSeconds, retryAfterSeconds: 0 }
    },
    giveBack(client) {
      if (max === 0) return
      roll()
      countOf(current, client).own--
    },
    reports() {
      roll()
      const endsAtMs = (current.number + 1) * windowMs
      const busy = [...current.counts].filter(([, count]) => max > 0 && isReported(count, max))
      return busy.slice(0, reportsMax).map(([client, count]) => {
        const more = count.own - count.reported
        count.reported = count.own
        return { name, client, window: current.number, more, endsAtMs }
      })
    },
    restore(reports) {
      for (const { name: of, client, window, more } of reports) {
        const count = of === name && window === current.number ? current.counts.get(client) : undefined
        if (count !== undefined) count.reported -= more
      }
    },
    learn(totals) {
      for (const { name: of, client, window, total: known } of totals) {
        const count = of === name && window === current.number ? current.counts.get(client) : undefined
        if (count !== undefined) count.others = known - count.reported
      }
    },
  }
}

function isReported(count: Count, max: number): boolean {
  return count.own !== count.reported && (count.own < 0 || total(count) >= max * reportedShare)
}

function total(count: Count | undefined): number {
  return count === undefined ? 0 : Math.max(0, count.own + count.others)
}

function countOf({ counts, oldestFirst }: Window, client: string): Count {
  const known = counts.get(client)
  if (known !== undefined) return known
  const oldest = counts.size >= clientsMax ? oldestFirst.next() : undefined
  if (oldest?.done === false) counts.delete(oldest.value)
  const count = { own: 0, reported: 0, others: 0 }
  counts.set(client, count)
  return count
}

interface Usage {
  readonly before: number
  readonly now: number
  readonly elapsed: number
  readonly max: number
}

/** Returns the number of windows until one more request is allowed, if the client sends nothing meanwhile. */
function windowsToWait({ before, now, elapsed, max }: Usage): number {
  if (now + 1 <= max) return 1 - (max - now - 1) / before - elapsed
  return 1 - elapsed + Math.max(0, 1 - (max - 1) / now)
}

function seconds(durationMs: number): number {
  return Math.ceil(durationMs / 1000)
}

import type { Clock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import type { RateReport, RateTotal, SharedCounts } from './rateLimit.ts'

export interface ShareRatesDeps {
  readonly clock: Clock
  readonly log: Log
  /** Returns the totals of all instances for the clients in the reports. */
  readonly shareRates: (reports: readonly RateReport[]) => Promise<readonly RateTotal[]>
}

// A client that uses several instances can exceed its limit by the requests of one interval at each instance.
const everyMs = 1_000

/**
 * Starts to exchange the counts with the other instances. While the database is slow or unavailable, each instance
 * continues with its own counts.
 */
export function startRateSharing(deps: ShareRatesDeps, counts: SharedCounts) {
  const { clock } = deps
  const stopping = new AbortController()
  let isShared = true
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(everyMs, stopping.signal).catch(() => undefined)
      if (!stopping.signal.aborted) isShared = await exchange(deps, counts, isShared)
    }
  })()
  return {
    stop(): Promise<void> {
      stopping.abort()
      return running
    },
  }
}

async function exchange(
  { log, shareRates }: ShareRatesDeps,
  counts: SharedCounts,
  wasShared: boolean,
): Promise<boolean> {
  const reports = counts.reports()
  if (reports.length === 0) return wasShared
  try {
    const totals = await shareRates(reports)
    counts.learn(totals)
    if (!wasShared) log.info({ event: 'limits_shared_again' })
    return true
  } catch (error) {
    counts.restore(reports)
    if (wasShared) log.warn({ event: 'limits_not_shared', error: describeError(error) })
    return false
  }
}

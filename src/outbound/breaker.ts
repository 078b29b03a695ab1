import type { Clock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import { countsForBreaker, isMissingItem, type UpstreamFailure } from '../product/upstreamFailure.ts'

export type Outcomes = ReturnType<typeof createOutcomes>
export type Breaker = ReturnType<typeof createBreaker>

const failuresMax = 5
const breakerRestMs = 30_000
// For 5 minutes after any answer, unreadable answers count only for items that were answered before. Later, those of
// all items count.
const answeringMs = 5 * 60_000
const answeredMax = 1_000
const itemLengthMax = 500

/**
 * Opens for 30 s after five failures in a row, or for the pause that the provider requested. After five failures, one
 * request then probes the provider, and the others are refused until it ends. If it fails, the breaker opens again.
 */
export function createBreaker(clock: Clock) {
  let failuresInARow = 0
  const failedItems = new Set<string>()
  const answeredItems = new Set<string>()
  let answeredAtMs = Number.NEGATIVE_INFINITY
  let isProbed = false
  let restsUntilMs = Number.NEGATIVE_INFINITY
  const rest = (durationMs: number) => {
    restsUntilMs = Math.max(restsUntilMs, clock.monotonicMs() + durationMs)
  }
  const noteAnswered = (item: string) => {
    answeredItems.delete(item)
    answeredItems.add(item)
    const [oldest] = answeredItems
    if (answeredItems.size > answeredMax && oldest !== undefined) answeredItems.delete(oldest)
  }
  // A malformed item may cause the failure, and a caller with many malformed items must not stop all requests to the
  // provider. The failure of a probe always counts.
  const isOwnFault = (item: string) =>
    failuresInARow < failuresMax &&
    (failedItems.has(item) || (!answeredItems.has(item) && clock.monotonicMs() - answeredAtMs < answeringMs))
  return {
    isOpen: () => isProbed || clock.monotonicMs() < restsUntilMs,
    /** Call this for each request that `isOpen` permits. */
    enter(): void {
      isProbed = failuresInARow >= failuresMax
    },
    /** Returns true if the success closed the breaker. `item` is absent if the provider lacks the item. */
    succeeded(item?: string): boolean {
      answeredAtMs = clock.monotonicMs()
      if (item !== undefined && item.length <= itemLengthMax) noteAnswered(item)
      const wasOpened = failuresInARow >= failuresMax
      failuresInARow = 0
      failedItems.clear()
      isProbed = false
      return wasOpened
    },
    /**
     * Returns true if the failure opened the breaker. `item` is present if only this item failed. Repeated failures of
     * an item count once. An item that was never answered does not count while the provider answers other items.
     */
    failed(item?: string): boolean {
      isProbed = false
      if (item !== undefined && isOwnFault(item)) return false
      if (item !== undefined && failedItems.size < failuresMax) failedItems.add(item)
      failuresInARow++
      if (failuresInARow < failuresMax) return false
      rest(breakerRestMs)
      return true
    },
    rest,
  }
}

export interface OutcomeDeps {
  readonly name: string
  readonly clock: Clock
  readonly log: Log
  readonly onCall: (call: { readonly upstream: string; readonly outcome: string }) => void
  /** After the provider reported a rate limit. Default: 5 s. */
  readonly pauseMinMs?: number | undefined
}

// Some providers request no pause, or a pause of 0 s, and would then limit the next request too.
const pauseMinMsDefault = 5_000
const pauseMaxMs = 15 * 60_000

export function createOutcomes({ name, clock, log, onCall, pauseMinMs = pauseMinMsDefault }: OutcomeDeps) {
  const breaker = createBreaker(clock)
  return {
    breaker,
    noteSuccess(item: string): void {
      if (breaker.succeeded(item)) log.info({ event: 'upstream_recovered', upstream: name })
      onCall({ upstream: name, outcome: 'answered' })
    },
    /** `item` is present if only this item failed. */
    noteFailure(failure: UpstreamFailure, item: string | undefined): void {
      const { kind, retryAfterMs = 0 } = failure
      onCall({ upstream: name, outcome: kind })
      if (kind === 'resting') return
      if (kind === 'rate_limited' || retryAfterMs > 0)
        breaker.rest(Math.min(Math.max(retryAfterMs, pauseMinMs), pauseMaxMs))
      if (!isMissingItem(failure))
        log.info({ event: 'upstream_failed', upstream: name, kind, error: describeError(failure) })
      if (!countsForBreaker(failure)) breaker.succeeded()
      else if (breaker.failed(item)) log.warn({ event: 'upstream_resting', upstream: name, restMs: breakerRestMs })
    },
  }
}

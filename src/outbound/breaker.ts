import type { Clock } from '@tollbook/core/clock'

/**
 * Circuit breaker of one provider. It opens after failures in a row, or for as long as the provider asked for. Then one
 * caller probes, and the others are turned away until the probe succeeds: a caller who waited behind it would wait for a
 * provider that is probably still down.
 */
export interface Breaker {
  isOpen(): boolean
  /** Called for each request that `isOpen` let pass. */
  enter(): void
  /** True when this success closed it. */
  succeeded(): boolean
  /** True when this failure opened it. `item`: only this item failed; in a row of failures it counts once. */
  failed(item?: string): boolean
  rest(durationMs: number): void
}

const failuresMax = 5
export const breakerRestMs = 30_000

/** Opens after failures in a row. After its rest one request is sent; its outcome closes or opens it again. */
export function createBreaker(clock: Clock): Breaker {
  let failuresInARow = 0
  const failedItems = new Set<string>()
  let isProbed = false
  let restsUntilMs = Number.NEGATIVE_INFINITY
  const rest = (durationMs: number) => {
    restsUntilMs = Math.max(restsUntilMs, clock.monotonicMs() + durationMs)
  }
  return {
    isOpen: () => isProbed || clock.monotonicMs() < restsUntilMs,
    enter() {
      isProbed = failuresInARow >= failuresMax
    },
    succeeded() {
      const wasOpened = failuresInARow >= failuresMax
      failuresInARow = 0
      failedItems.clear()
      isProbed = false
      return wasOpened
    },
    failed(item) {
      isProbed = false
      // Otherwise a caller could close the provider to all others by asking for one malformed item again and again.
      if (item !== undefined && failedItems.has(item)) return false
      if (item !== undefined && failedItems.size < failuresMax) failedItems.add(item)
      failuresInARow++
      if (failuresInARow < failuresMax) return false
      rest(breakerRestMs)
      return true
    },
    rest,
  }
}

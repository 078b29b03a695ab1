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
  /** True when this success closed it. `item`: this item was answered; absent when only its absence was. */
  succeeded(item?: string): boolean
  /**
   * True when this failure opened it. `item`: only this item failed. It counts once in a row of failures, and not at all if it
   * was never answered while the provider answers others.
   */
  failed(item?: string): boolean
  rest(durationMs: number): void
}

const failuresMax = 5
export const breakerRestMs = 30_000
// A provider that has changed its answers is found by the items that it answered before, and after this time by any item.
const answeringMs = 5 * 60_000
// Items of 100 bytes or so.
const answeredMax = 1_000
const itemLengthMax = 500

/** Opens after failures in a row. After its rest one request is sent; its outcome closes or opens it again. */
export function createBreaker(clock: Clock): Breaker {
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
  // A caller who asks for malformed items, one after another, must not close the provider to all others.
  const isOwnFault = (item: string) =>
    failuresInARow < failuresMax && !answeredItems.has(item) && clock.monotonicMs() - answeredAtMs < answeringMs
  return {
    isOpen: () => isProbed || clock.monotonicMs() < restsUntilMs,
    enter() {
      isProbed = failuresInARow >= failuresMax
    },
    succeeded(item) {
      answeredAtMs = clock.monotonicMs()
      if (item !== undefined && item.length <= itemLengthMax) noteAnswered(item)
      const wasOpened = failuresInARow >= failuresMax
      failuresInARow = 0
      failedItems.clear()
      isProbed = false
      return wasOpened
    },
    failed(item) {
      isProbed = false
      if (item !== undefined && (failedItems.has(item) || isOwnFault(item))) return false
      if (item !== undefined && failedItems.size < failuresMax) failedItems.add(item)
      failuresInARow++
      if (failuresInARow < failuresMax) return false
      rest(breakerRestMs)
      return true
    },
    rest,
  }
}

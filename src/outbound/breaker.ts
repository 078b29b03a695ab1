import type { Clock } from '@tollbook/core/clock'

/**
 * Circuit breaker of one provider. It opens after several failures in a row, or for the pause that the provider
 * requested. Afterwards one request probes the provider, and all others are refused until it succeeds. They do not wait
 * for the probe, because the provider is probably still down.
 */
export interface Breaker {
  isOpen(): boolean
  /** Records the start of a request. Call it for each request that `isOpen` allows. */
  enter(): void
  /**
   * Records a success. Returns true if it closed the breaker. `item`: the item that was answered; absent if the
   * provider lacks the item.
   */
  succeeded(item?: string): boolean
  /**
   * Records a failure. Returns true if it opened the breaker. `item`: only this item failed. The item counts once in a
   * row of failures. It does not count if it was never answered while the provider answers others.
   */
  failed(item?: string): boolean
  rest(durationMs: number): void
}

const failuresMax = 5
export const breakerRestMs = 30_000
// For 5 minutes after an answer, only failures of items that were answered before count. Later, failures of all items
// count.
const answeringMs = 5 * 60_000
// Each item has about 100 bytes.
const answeredMax = 1_000
const itemLengthMax = 500

/**
 * Creates a breaker that opens after failures in a row. After the rest, the outcome of one request closes it or opens
 * it again.
 */
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
  // True if the item itself may be malformed. A caller with many malformed items must not stop all requests to the
  // provider.
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

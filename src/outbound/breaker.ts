import type { Clock } from '@tollbook/core/clock'

/**
 * Leaves a provider alone that fails or asks for a pause. After the rest one caller is let through, and all others are
 * turned away until it is back: whoever waited behind it would wait for a provider that is probably still down.
 */
export interface Breaker {
  isOpen(): boolean
  /** Says that somebody goes through; only after `isOpen` said no. */
  enter(): void
  /** True when this success closed it again. */
  succeeded(): boolean
  /** True when this failure opened it. */
  failed(): boolean
  rest(durationMs: number): void
}

export interface BreakerLimits {
  /** Failures in a row. */
  readonly failuresMax: number
  readonly restMs: number
}

export function createBreaker(clock: Clock, { failuresMax, restMs }: BreakerLimits): Breaker {
  let failuresInARow = 0
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
      isProbed = false
      return wasOpened
    },
    failed() {
      failuresInARow++
      isProbed = false
      if (failuresInARow < failuresMax) return false
      rest(restMs)
      return true
    },
    rest,
  }
}

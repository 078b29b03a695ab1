import { vi } from 'vitest'
import type { ForwardClock } from './providerFixture.ts'

/**
 * Ends limits of `AbortSignal.timeout` when the test forwards its clock, and not while a busy machine pauses. A test
 * that waits for a limit forwards the clock once its server has been asked.
 */
export function holdTimeLimits(clock: ForwardClock): ForwardClock {
  const ends = new Map<AbortController, number>()
  let passedMs = 0
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((durationMs) => {
    const limit = new AbortController()
    ends.set(limit, passedMs + durationMs)
    return limit.signal
  })
  return {
    ...clock,
    forward(durationMs) {
      passedMs += durationMs
      clock.forward(durationMs)
      for (const [limit, endMs] of ends) if (endMs <= passedMs) limit.abort()
    },
  }
}

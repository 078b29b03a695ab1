import type { Clock } from '@tollbook/core/clock'

const firstMs = 1_000
const maxMs = 60_000

/** Waits before a retry. The wait doubles after each failure in a row, up to a minute. False if the signal was aborted. */
export function pauseBeforeRetry(clock: Clock, failures: number, signal: AbortSignal): Promise<boolean> {
  return clock.sleep(Math.min(firstMs * 2 ** (failures - 1), maxMs), signal).then(
    () => true,
    () => false,
  )
}

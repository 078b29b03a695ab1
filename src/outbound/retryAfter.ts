import type { Clock } from '@tollbook/core/clock'

/**
 * Returns the pause in milliseconds from a header with seconds or an HTTP date. Undefined if the header is absent or
 * invalid.
 */
export function retryAfterMsOf(given: string | null | undefined, clock: Clock): number | undefined {
  if (given === null || given === undefined) return undefined
  const askedMs = /^\d{1,12}$/.test(given) ? Number(given) * 1000 : Date.parse(given) - clock.nowMs()
  return Number.isNaN(askedMs) ? undefined : Math.max(askedMs, 0)
}

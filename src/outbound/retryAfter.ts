import type { Clock } from '@tollbook/core/clock'

/** Reads a Retry-After header in seconds or as an HTTP date; undefined if it is absent or neither. */
export function retryAfterMsOf(headers: Headers | undefined, clock: Clock): number | undefined {
  const given = headers?.get('retry-after')
  if (given === null || given === undefined) return undefined
  const askedMs = /^\d{1,12}$/.test(given) ? Number(given) * 1000 : Date.parse(given) - clock.nowMs()
  return Number.isNaN(askedMs) ? undefined : Math.max(askedMs, 0)
}

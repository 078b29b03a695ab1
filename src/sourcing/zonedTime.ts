import { LRUCache } from 'lru-cache'

export interface ClockReading {
  readonly year: number
  /** Month from 1 to 12. */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
}

/**
 * Converts a clock reading to milliseconds since 1970. The repeated hour of autumn is ambiguous: in some zones the
 * earlier time is returned, in others the later one.
 */
export function epochMsOf({ year, month, day, hour, minute, second }: ClockReading, timeZone: string): number {
  const asUtcMs = Date.UTC(year, month - 1, day, hour, minute, second)
  // Find the offset of an approximate time first, then the offset of the result, because the two differ on days when
  // clocks change.
  const nearMs = asUtcMs - offsetMsOf(asUtcMs, timeZone)
  return asUtcMs - offsetMsOf(nearMs, timeZone)
}

// Cache the formats, because creating one is slow.
const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 50 })

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  formats.set(timeZone, format)
  return format
}

function offsetMsOf(epochMs: number, timeZone: string): number {
  const parts = formatOf(timeZone).formatToParts(epochMs)
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  // An offset has the form `GMT-05:00`, or `GMT` for zero.
  const [, sign, hours = '0', minutes = '0'] = /^GMT(?:([+-])(\d{2}):(\d{2}))?$/.exec(name) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}

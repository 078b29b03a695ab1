/** Local wall-clock time. Providers of stock prices report it instead of UTC. */
export interface WallTime {
  readonly date: string
  readonly time: string
  /** Offset from UTC. Positive east of Greenwich. */
  readonly offsetMs: number
  /** Day of the week. 0 is Sunday. */
  readonly weekday: number
}

export function wallTimeIn(timeZone: string, atMs: number): WallTime {
  const shown = formatOf(timeZone).format(atMs)
  const [date = '', time = ''] = shown.split(' ')
  const shownMs = Date.parse(`${date}T${time}Z`)
  const offsetMs = shownMs - Math.floor(atMs / 1000) * 1000
  return { date, time, offsetMs, weekday: new Date(shownMs).getUTCDay() }
}

/** Cached formats: creating one takes longer than a hundred uses, and a year of bars uses it a thousand times. */
const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(timeZone: string): Intl.DateTimeFormat {
  // Swedish formats dates as ISO 8601 does.
  const format =
    formats.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  formats.set(timeZone, format)
  return format
}

/** Local wall-clock time. Providers of stock prices report it instead of UTC. */
export interface WallTime {
  readonly date: string
  readonly time: string
  /** East of Greenwich. */
  readonly offsetMs: number
  /** 0 is Sunday. */
  readonly weekday: number
}

export function wallTimeIn(timeZone: string, atMs: number): WallTime {
  const shown = formatOf(timeZone).format(atMs)
  const [date = '', time = ''] = shown.split(' ')
  const shownMs = Date.parse(`${date}T${time}Z`)
  const offsetMs = shownMs - Math.floor(atMs / 1000) * 1000
  return { date, time, offsetMs, weekday: new Date(shownMs).getUTCDay() }
}

/** Creating one takes longer than some hundred uses; a year of bars needs it a thousand times. */
const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(timeZone: string): Intl.DateTimeFormat {
  // Swedish because it writes dates as ISO does.
  const format =
    formats.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  formats.set(timeZone, format)
  return format
}

import { epochMsOf } from './zonedTime.ts'

const timeZone = 'America/New_York'
const opens = { hour: 9, minute: 30 }
const closes = { hour: 16, minute: 0 }
const dateFormat = new Intl.DateTimeFormat('en-US', {
  timeZone,
  weekday: 'short',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
})

/** Begin of the session in New York that runs at that moment; undefined outside it. Holidays count as sessions. */
export function usSessionSinceMs(nowMs: number): number | undefined {
  const parts = new Map(dateFormat.formatToParts(nowMs).map(({ type, value }) => [type, value]))
  const weekday = parts.get('weekday') ?? ''
  if (weekday === 'Sat' || weekday === 'Sun') return undefined
  const [year, month, day] = [Number(parts.get('year')), Number(parts.get('month')), Number(parts.get('day'))]
  const at = (time: typeof opens) => epochMsOf({ year, month, day, ...time, second: 0 }, timeZone)
  return nowMs >= at(opens) && nowMs < at(closes) ? at(opens) : undefined
}

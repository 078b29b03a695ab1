import { epochMsOf } from '../../../sourcing/zonedTime.ts'

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

/** Undefined outside a session. Public holidays are treated as trading days. */
export function usSessionSinceMs(nowMs: number): number | undefined {
  const session = sessionOfDay(nowMs)
  return session !== undefined && nowMs >= session.opensMs && nowMs < session.closesMs ? session.opensMs : undefined
}

const dayMs = 24 * 60 * 60_000
const missedMax = 10
// For this time after a session ends, a price from before the session is still accepted. Providers are up to 15 minutes
// late.
const settlingMs = 30 * 60_000

/** Whole sessions between the two times, at most 10. Public holidays are treated as trading days. */
export function usSessionsMissed(sinceMs: number, nowMs: number): number {
  let missed = 0
  for (let day = 0; day <= missedMax && sinceMs + day * dayMs <= nowMs + dayMs; day++) {
    const session = sessionOfDay(sinceMs + day * dayMs)
    if (session !== undefined && session.opensMs > sinceMs && session.closesMs + settlingMs < nowMs) missed++
  }
  return missed
}

function sessionOfDay(atMs: number): { readonly opensMs: number; readonly closesMs: number } | undefined {
  const parts = new Map(dateFormat.formatToParts(atMs).map(({ type, value }) => [type, value]))
  const weekday = parts.get('weekday') ?? ''
  if (weekday === 'Sat' || weekday === 'Sun') return undefined
  const [year, month, day] = [Number(parts.get('year')), Number(parts.get('month')), Number(parts.get('day'))]
  const at = (time: typeof opens) => epochMsOf({ year, month, day, ...time, second: 0 }, timeZone)
  return { opensMs: at(opens), closesMs: at(closes) }
}

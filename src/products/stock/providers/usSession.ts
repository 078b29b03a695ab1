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

/**
 * Returns the opening time of the session that is running. Undefined outside a session. Public holidays are treated as
 * trading days.
 */
export function usSessionSinceMs(nowMs: number): number | undefined {
  const session = sessionOfDay(nowMs)
  return session !== undefined && nowMs >= session.opensMs && nowMs < session.closesMs ? session.opensMs : undefined
}

const dayMs = 24 * 60 * 60_000
// For this time after a session ends, a price from before the session is still accepted. Providers are up to 15 minutes
// late.
const settlingMs = 30 * 60_000

/** True if a whole session lies between the two times. Public holidays are treated as trading days. */
export function missesUsSession(sinceMs: number, nowMs: number): boolean {
  // The next session is at most three days away, after a weekend.
  const next = [0, 1, 2, 3]
    .map((day) => sessionOfDay(sinceMs + day * dayMs))
    .find((one) => one !== undefined && one.opensMs > sinceMs)
  return next !== undefined && next.closesMs + settlingMs < nowMs
}

function sessionOfDay(atMs: number): { readonly opensMs: number; readonly closesMs: number } | undefined {
  const parts = new Map(dateFormat.formatToParts(atMs).map(({ type, value }) => [type, value]))
  const weekday = parts.get('weekday') ?? ''
  if (weekday === 'Sat' || weekday === 'Sun') return undefined
  const [year, month, day] = [Number(parts.get('year')), Number(parts.get('month')), Number(parts.get('day'))]
  const at = (time: typeof opens) => epochMsOf({ year, month, day, ...time, second: 0 }, timeZone)
  return { opensMs: at(opens), closesMs: at(closes) }
}

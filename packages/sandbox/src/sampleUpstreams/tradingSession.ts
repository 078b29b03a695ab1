import { assertPresent } from '@tollbook/core/assert'
import { wallTimeIn } from './wallTime.ts'

/** The last time that an exchange was open, which may be now. */
export interface TradingSession {
  readonly openMs: number
  readonly closeMs: number
  /** Now, or when it closed. */
  readonly lastTradeMs: number
  readonly isOpen: boolean
}

const dayMs = 24 * 60 * 60 * 1000
const opensAfterMs = 9.5 * 60 * 60 * 1000
const closesAfterMs = 16 * 60 * 60 * 1000
// A weekend, and the day after on which it has not opened yet; sample exchanges know no holidays.
const daysBackMax = 4

/** Monday to Friday, 9:30 to 16:00 on the wall: near enough for every exchange of the table. */
export function lastSessionOf(timeZone: string, nowMs: number): TradingSession {
  return assertPresent(
    sessionsOf(timeZone, nowMs, daysBackMax + 1).at(-1),
    'an exchange was open in the last four days',
  )
}

/** When the session before that one closed. */
export function previousCloseMs(timeZone: string, { openMs }: TradingSession): number {
  return lastSessionOf(timeZone, openMs - 1).closeMs
}

/** The sessions of some days, oldest first, up to the last one. */
export function sessionsOf(timeZone: string, nowMs: number, days: number): readonly TradingSession[] {
  return Array.from({ length: days }, (_, at) => nowMs - (days - 1 - at) * dayMs).flatMap((atMs): TradingSession[] => {
    const session = sessionOn(timeZone, atMs)
    if (session === undefined || session.openMs > nowMs) return []
    const lastTradeMs = Math.min(nowMs, session.closeMs)
    return [{ ...session, lastTradeMs, isOpen: nowMs < session.closeMs }]
  })
}

function sessionOn(timeZone: string, atMs: number) {
  const { date, offsetMs, weekday } = wallTimeIn(timeZone, atMs)
  if (weekday === 0 || weekday === 6) return undefined
  const midnightMs = Date.parse(`${date}T00:00:00Z`) - offsetMs
  return { openMs: midnightMs + opensAfterMs, closeMs: midnightMs + closesAfterMs }
}

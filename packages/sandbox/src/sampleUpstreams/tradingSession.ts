import { assertPresent } from '@tollbook/core/assert'
import { wallTimeIn } from './wallTime.ts'

/** The latest session of an exchange, which may be open now. */
export interface TradingSession {
  readonly openMs: number
  readonly closeMs: number
  /** The current time while the session is open, otherwise its close. */
  readonly lastTradeMs: number
  readonly isOpen: boolean
}

const dayMs = 24 * 60 * 60 * 1000
const opensAfterMs = 9.5 * 60 * 60 * 1000
const closesAfterMs = 16 * 60 * 60 * 1000
// A weekend plus the following morning before the exchange opens. Sample exchanges have no holidays.
const daysBackMax = 4

/**
 * Returns the latest session. All exchanges open Monday to Friday from 9:30 to 16:00 local time, which approximates
 * those of the table.
 */
export function lastSessionOf(timeZone: string, nowMs: number): TradingSession {
  return assertPresent(
    sessionsOf(timeZone, nowMs, daysBackMax + 1).at(-1),
    'an exchange was open in the last four days',
  )
}

/** Close of the session before the given one. */
export function previousCloseMs(timeZone: string, { openMs }: TradingSession): number {
  return lastSessionOf(timeZone, openMs - 1).closeMs
}

/** Sessions of the last `days` days, oldest first. */
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

import { sql } from 'kysely'
import { isoTime } from '@tollbook/core/clock'
import type { Database } from '../../store/database.ts'

/** A time is compared with the time of recording, because this time increases with the position. */
export type Bound =
  | { readonly kind: 'position'; readonly position: number }
  /** The time is included at the start of a range, and excluded at its end. */
  | { readonly kind: 'moment'; readonly ms: number }

const dayMs = 24 * 60 * 60 * 1000
const dayForm = /^\d{4}-\d{2}-\d{2}$/
const momentForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/

/**
 * Parses `42`, `2026-11-21` or `2026-11-21T10:00:00Z`. A day at the end of a range is included whole. Undefined for
 * other text.
 */
export function readBound(text: string, end: 'from' | 'to'): Bound | undefined {
  if (/^[1-9]\d{0,14}$/.test(text)) return { kind: 'position', position: Number(text) }
  if (!dayForm.test(text) && !momentForm.test(text)) return undefined
  const [day = ''] = text.split('T')
  const ms = Date.parse(text)
  // Compare the texts, because `Date.parse` reads the 30th of February as the 2nd of March.
  if (Number.isNaN(ms) || isoTime(Date.parse(day)).slice(0, 10) !== day) return undefined
  return { kind: 'moment', ms: text === day && end === 'to' ? ms + dayMs : ms }
}

export async function firstPositionOf(snapshot: Database, bound: Bound, head: number): Promise<number> {
  return bound.kind === 'position' ? bound.position : firstRecordedFrom(snapshot, bound.ms, head)
}

/**
 * Returns the last position of a range. Excludes an event that was recorded at exactly the given millisecond, because a
 * time at the end of a range is exclusive.
 */
export async function lastPositionOf(snapshot: Database, bound: Bound, head: number): Promise<number> {
  return bound.kind === 'position' ? bound.position : (await firstRecordedFrom(snapshot, bound.ms, head)) - 1
}

/**
 * Finds the first position that was recorded at or after the time. Uses a binary search, because times of recording
 * increase with the position and have no index.
 */
async function firstRecordedFrom(snapshot: Database, ms: number, head: number): Promise<number> {
  let [low, high] = [1, head + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const { rows } = await sql<{ recorded_at: Date }>`
      select recorded_at from ledger.events where seq = ${middle}`.execute(snapshot)
    const [row] = rows
    if (row !== undefined && row.recorded_at.getTime() >= ms) high = middle
    else low = middle + 1
  }
  return low
}

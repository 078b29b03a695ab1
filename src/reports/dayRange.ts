import { type RawBuilder, sql } from 'kysely'
import type { ReportQuestion } from './reportQuestion.ts'

export type DayRange = Pick<ReportQuestion, 'from' | 'to'>

/** Each day of the range separately. */
export function eachDay({ from, to }: DayRange): RawBuilder<boolean> {
  return sql<boolean>`day > '-infinity' and day between ${from ?? '-infinity'}::date and ${to ?? 'infinity'}::date`
}

/** The days of the range, for sums. The range of all days is stored as one row. */
export function allDays(range: DayRange): RawBuilder<boolean> {
  return isUnbounded(range) ? sql<boolean>`day = '-infinity'` : eachDay(range)
}

export function isUnbounded({ from, to }: DayRange): boolean {
  return from === undefined && to === undefined
}

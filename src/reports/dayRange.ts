import { type RawBuilder, sql } from 'kysely'
import { isoTime } from '@tollbook/core/clock'
import type { ReportQuestion } from './reportQuestion.ts'

export type DayRange = Pick<ReportQuestion, 'from' | 'to'>

export function eachDay({ from, to }: DayRange): RawBuilder<boolean> {
  return sql<boolean>`day > '-infinity' and day between ${from ?? '-infinity'}::date and ${to ?? 'infinity'}::date`
}

/**
 * Returns a condition that selects the days of a range. The sum over all days is stored as one row, so a report without
 * a range reads one row for each sum.
 */
export function allDays(range: DayRange): RawBuilder<boolean> {
  return isUnbounded(range) ? sql<boolean>`day = '-infinity'` : eachDay(range)
}

export function paidBy({
  from,
  to,
  wallet,
}: DayRange & Pick<ReportQuestion, 'wallet'>): readonly RawBuilder<boolean>[] {
  return [
    ...(from === undefined ? [] : [sql<boolean>`paid_at >= ${from}::date::timestamp at time zone 'UTC'`]),
    ...(to === undefined ? [] : [sql<boolean>`paid_at < (${to}::date + 1)::timestamp at time zone 'UTC'`]),
    ...(wallet === undefined ? [] : [sql<boolean>`wallet = ${wallet}`]),
  ]
}

export function paidBefore(cursor: string | undefined): readonly RawBuilder<boolean>[] {
  const [time = '', position = ''] = cursor?.split('.') ?? []
  if (cursor === undefined) return []
  return [sql<boolean>`(paid_at, stream) < (${isoTime(Number(time))}::timestamptz, ${position}::bigint)`]
}

export function isUnbounded({ from, to }: DayRange): boolean {
  return from === undefined && to === undefined
}

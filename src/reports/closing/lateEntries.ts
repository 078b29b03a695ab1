import { sql } from 'kysely'
import type { Database } from '../../store/database.ts'
import { type LateEntry, lateEntriesMax } from '@tollbook/core/closingStatement'

export interface LateQuestion {
  readonly mint: string
  /** Exclusive. */
  readonly after: number
  readonly upto: number
  /** Exclusive. */
  readonly before: string
}

/**
 * Reads the entries that were recorded after the close of their month. A closed month keeps its figures: its statement
 * lists these entries, and the month of their recording restates them (decision 0040). `entries` has the first
 * `lateEntriesMax` of them in the order of the ledger, and `count` counts all.
 */
export async function lateEntries(
  snapshot: Database,
  { mint, after, upto, before }: LateQuestion,
): Promise<{ readonly entries: LateEntry[]; readonly count: number }> {
  const { rows } = await sql<LateEntry & { readonly count: number }>`
    select seq as position, day::text as day, account, sum(debits)::text as "debitBaseUnits",
      sum(credits)::text as "creditBaseUnits", (count(*) over ())::bigint as count
    from reports.late_entries
    where mint = ${mint} and day < ${before}::date and seq > ${after} and seq <= ${upto}
    group by seq, day, account
    order by seq, account
    limit ${lateEntriesMax}`.execute(snapshot)
  const entries = rows.map(({ count: _count, ...entry }) => entry)
  return { entries, count: rows[0]?.count ?? 0 }
}

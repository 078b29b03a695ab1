import { sql } from 'kysely'
import type { Database } from '../../store/database.ts'
import { type LateEntry, lateEntriesMax } from '@tollbook/core/closingStatement'

/** The range of a search for entries that were recorded after the close of their month. */
export interface LateQuestion {
  readonly mint: string
  /** The search starts after this position. */
  readonly after: number
  readonly upto: number
  /** The search ends before this day. */
  readonly before: string
}

/**
 * Reads the entries that were recorded after the close of their month, in the order of the ledger. Returns the first
 * entries, and the count of all of them.
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

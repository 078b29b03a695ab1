import { sql } from 'kysely'
import { type LateEntry, lateEntriesMax } from '@tollbook/core/closingStatement'
import type { Snapshot } from '../export/snapshot.ts'

/** Entries that were recorded after the close of their month. */
export interface LateQuestion {
  readonly mint: string
  /** Exclusive first position. */
  readonly after: number
  readonly upto: number
  /** Exclusive last day. */
  readonly before: string
}

interface LateRow {
  readonly seq: number
  readonly day: string
  readonly account: string
  readonly debits: string
  readonly credits: string
  readonly count: number
}

/**
 * Reads the entries recorded after the close of their month, in the order of the ledger. Returns the first ones and the
 * count of all.
 */
export async function lateEntries(
  snapshot: Snapshot,
  { mint, after, upto, before }: LateQuestion,
): Promise<{ readonly entries: LateEntry[]; readonly count: number }> {
  const { rows } = await sql<LateRow>`
    select seq, day::text as day, account, sum(debits)::text as debits, sum(credits)::text as credits,
      (count(*) over ())::bigint as count
    from reports.late_entries
    where mint = ${mint} and day < ${before}::date and seq > ${after} and seq <= ${upto}
    group by seq, day, account
    order by seq, account
    limit ${lateEntriesMax}`.execute(snapshot)
  const entries = rows.map(({ seq, day, account, debits, credits }) => ({
    position: seq,
    day,
    account,
    debitBaseUnits: debits,
    creditBaseUnits: credits,
  }))
  return { entries, count: rows[0]?.count ?? 0 }
}

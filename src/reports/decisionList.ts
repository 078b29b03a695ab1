import { sql } from 'kysely'
import { type Database, readRows } from '../store/database.ts'
import {
  cellsOf,
  isoTimeOf,
  pageOf,
  type ReportTable,
  selectList,
  type SqlColumns,
  type SqlRow,
} from './reportTable.ts'
import type { SumsQuestion } from './sums.ts'

const granted = sql`said ->> 'amountBaseUnits'`
const approved = sql`(select sum((d ->> 'baseUnits')::numeric) from jsonb_array_elements(said -> 'debts') d)`

const columns: SqlColumns = {
  decidedAt: isoTimeOf(sql`effective_at`),
  decision: sql`kind`,
  stream: sql`said ->> 'stream'`,
  reference: sql`said ->> 'payment'`,
  wallet: sql`said ->> 'wallet'`,
  grantedBaseUnits: granted,
  approvedBaseUnits: approved,
  decidedBy: sql`said ->> 'by'`,
  role: sql`said ->> 'role'`,
  login: sql`said ->> 'login'`,
  reason: sql`said ->> 'reason'`,
  position: sql`seq`,
}

/** Lists the decisions, newest first. */
export async function decisionList(database: Database, question: SumsQuestion): Promise<ReportTable> {
  const decided = decidedBy(question)
  const older = question.cursor === undefined ? sql`true` : sql`seq < ${question.cursor}::bigint`
  const rows = await readRows(database, what)<SqlRow>`
    select ${selectList(columns)} from ${decided} where ${older} order by seq desc limit ${question.limit + 1}`
  const [totals = {}] = await readRows(database, what)<SqlRow>`
    select coalesce(sum((${granted})::numeric), 0)::text as "grantedBaseUnits",
      coalesce(sum(${approved}), 0)::text as "approvedBaseUnits"
    from ${decided}`
  const { page, last } = pageOf(rows, question)
  return {
    columns: Object.keys(columns),
    rows: page.map(cellsOf),
    totals: cellsOf(totals),
    next: last === undefined ? undefined : String(last['position']),
  }
}

const what = 'the decisions'

/**
 * Returns a subquery for the events in the id spaces that only people write. A new kind of decision is therefore listed
 * without a change here.
 */
function decidedBy({ mint, from, to }: SumsQuestion) {
  return sql`(
    select e.seq, e.kind, e.effective_at, b.said
    from (
      select k.space from ledger.kinds k join ledger.steps t on t.kind = k.kind
      group by k.space having bool_and(t.writer = 'finance')
    ) k
    join ledger.streams s on s.id >= set_byte('\\x00', 0, k.space) and s.id < set_byte('\\x00', 0, k.space + 1)
    cross join lateral unnest(s.seqs) as r
    cross join lateral generate_series(lower(r), upper(r) - 1) as p (seq)
    join ledger.events e on e.seq = p.seq
    cross join lateral (select convert_from(e.body, 'UTF8')::jsonb as said offset 0) b
    where b.said ->> 'mint' = ${mint} and e.seq <= (select upto_seq from reports.progress)
      and (e.effective_at at time zone 'UTC')::date between ${from ?? '-infinity'}::date and ${to ?? 'infinity'}::date
  ) d`
}

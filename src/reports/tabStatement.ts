import { sql } from 'kysely'
import { assertPresent } from '@tollbook/core/assert'
import { readTabId } from '@tollbook/core/tab'
import { prepaidOn } from '../accounting/account.ts'
import { type Database, readRows } from '../store/database.ts'
import { depositSpace } from '../store/tabKeys.ts'
import { cellsOf, isoTimeOf, pageOf, type ReportTable, selectList, type SqlRow } from './reportTable.ts'
import type { SumsQuestion } from './sums.ts'

const movements: Readonly<Record<string, string>> = {
  TabOpened: 'deposit',
  TabToppedUp: 'deposit',
  DepositReversed: 'dropped',
  TabTakenBack: 'dropped',
  TabDebited: 'hold',
  TabCaptured: 'capture',
  TabReturned: 'release',
  TabClosed: 'return',
  TabRestOwed: 'return',
}

/** `before` is the balance of the tab before the first row. */
const columnsOf = (before: string) => ({
  at: isoTimeOf(sql`e.effective_at`),
  movement: sql`${JSON.stringify(movements)}::jsonb ->> e.kind`,
  reference: sql`e.body ->> 'stream'`,
  endpoint: sql`coalesce(p.endpoint, e.body #>> '{price,endpoint}')`,
  changeBaseUnits: sql`e.change`,
  balanceBaseUnits: sql`${before}::numeric + sum(e.change) over (order by e.seq)`,
  chargedBaseUnits: sql`e.charged`,
  position: sql`e.seq`,
})

/**
 * Lists the movements of a tab, oldest first. A request has a hold, then a capture, which returns the unused part to
 * the tab, or a release, which returns all of it. The cursor contains the balance before the page.
 */
export async function tabStatement(database: Database, question: SumsQuestion): Promise<ReportTable> {
  const [, position = '0', balance = '0'] = /^(\d+)\.(\d+)$/.exec(question.cursor ?? '') ?? []
  const columns = columnsOf(balance)
  const { page, last } = pageOf(await readMovements(database, question, { columns, after: position }), question)
  const next = last === undefined ? undefined : `${last['position']}.${last['balanceBaseUnits']}`
  return { columns: Object.keys(columns), rows: page.map(cellsOf), totals: undefined, next }
}

interface Movements {
  readonly columns: ReturnType<typeof columnsOf>
  readonly after: string
}

/**
 * Reads the movements of a tab. Its debits are a range of stream ids. The burn in the token for a charge in dollars is
 * a separate event, and is not a part of the charge.
 */
function readMovements(database: Database, { tab, limit }: SumsQuestion, { columns, after }: Movements) {
  const id = Buffer.from(assertPresent(readTabId(tab ?? ''), 'a statement is of a tab'))
  // One byte more than a tab id, so that the end of a range is above every key of the tab.
  const past = Buffer.alloc(17, 255)
  // Space bytes of streams: 7 for the debits of a tab, 6 for its lifecycle.
  const [requests, lifecycle] = [Buffer.concat([Buffer.of(7), id]), Buffer.concat([Buffer.of(6), id])]
  return readRows(database, 'the movements of a tab')<SqlRow>`
    with stream as materialized (
      select s.stream, s.seqs from ledger.streams s where s.id >= ${requests} and s.id < ${Buffer.concat([requests, past])}
      union all
      select s.stream, s.seqs from ledger.streams s where s.id = ${lifecycle}
      union all
      select s.stream, s.seqs from ledger.keys k join ledger.streams s on s.id = k.id
      where k.space = ${depositSpace} and k.key >= ${id} and k.key < ${Buffer.concat([id, past])}
    ),
    place as materialized (
      select at.seq from stream s cross join lateral unnest(s.seqs) r
      cross join lateral generate_series(lower(r), upper(r) - 1) as at (seq)
      where at.seq > ${after}::bigint
    )
    select ${selectList(columns)}
    from (
      select e.seq, e.stream, e.kind, e.effective_at, convert_from(e.body, 'UTF8')::jsonb as body, t.change,
        case when e.kind = 'TabCaptured' then t.whole - t.change end as charged
      from place
      join ledger.events e on e.seq = place.seq
      left join ledger.accounts a on a.name = ${prepaidOn(tab ?? '')}
      cross join lateral (
        select sum(m.amount) as whole,
          coalesce(sum(m.amount) filter (where m.credit = a.id), 0) - coalesce(sum(m.amount) filter (where m.debit = a.id), 0) as change
        from unnest(e.debits, e.credits, e.amounts) as m (debit, credit, amount)
      ) t
      where e.kind = any(${Object.keys(movements)}::text[])
      order by e.seq
      limit ${limit + 1}
    ) e
    left join reports.payments p on p.stream = e.stream
    order by e.seq`
}

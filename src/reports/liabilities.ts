import { sql } from 'kysely'
import { type Database, readOrFault } from '../store/database.ts'
import { cellsOf, pageOf, type ReportTable, type SqlRow } from './reportTable.ts'
import type { SumsQuestion } from './sums.ts'

const columns = ['account', 'wallet', 'owedBaseUnits', 'entries', 'lastMovedAt'] as const

/**
 * What is owed and to whom, account by account, as it stands in the book. Every account under Liabilities is here, those
 * that this code does not know too.
 */
export async function liabilities(database: Database, question: SumsQuestion): Promise<ReportTable> {
  const { rows, totals } = await readOrFault('the liabilities', async () => ({
    rows: (await listQuery(question).execute(database)).rows,
    totals: (await totalsQuery(question).execute(database)).rows[0] ?? {},
  }))
  const { page, last } = pageOf(rows, question)
  return {
    columns,
    rows: page.map(cellsOf),
    totals: cellsOf(totals),
    next: last === undefined ? undefined : String(last['account']),
  }
}

/** Walks the primary key by the name of the account. */
function listQuery({ mint, owedTo, cursor, limit }: SumsQuestion) {
  return sql<SqlRow>`
    select b.account, nullif(split_part(b.account, ':', 3), '') as wallet, (-b.balance)::text as "owedBaseUnits", b.entries,
      to_char(e.recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastMovedAt"
    from ledger.balances b
    left join ledger.events e on e.seq = b.upto_seq
    where b.mint = ${mint} and b.account > ${cursor ?? ''} and b.account like ${pattern(owedTo)} and b.balance <> 0
    order by b.account
    limit ${limit + 1}`
}

/** One row of the totals for each kind of account, however many wallets there are. */
function totalsQuery({ mint, owedTo }: SumsQuestion) {
  const toWallets = sql`account not in ('Liabilities:Unearned', 'Liabilities:Provider', 'Liabilities:Holders', 'Liabilities:Treasury')`
  return sql<SqlRow>`
    select coalesce(sum(credits - debits), 0)::text as "owedBaseUnits"
    from reports.daily_totals
    where mint = ${mint} and day = '-infinity' and account like 'Liabilities:%' and ${owedTo === 'all' ? sql`true` : toWallets}`
}

function pattern(owedTo: SumsQuestion['owedTo']): string {
  return owedTo === 'all' ? 'Liabilities:%' : 'Liabilities:%:%'
}

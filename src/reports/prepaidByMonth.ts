import { sql } from 'kysely'
import { assertPresent } from '@tollbook/core/assert'
import { readTabId } from '@tollbook/core/tab'
import { prepaidOn } from '../accounting/account.ts'
import { type Database, readRows } from '../store/database.ts'
import { depositSpace } from '../store/tabKeys.ts'
import { microUsdAt, pricedBy } from './dayPrice.ts'
import { cellsOf, type ReportTable, selectList, type SqlColumns, type SqlRow } from './reportTable.ts'
import type { SumsQuestion } from './sums.ts'

const columns: SqlColumns = {
  month: sql`m.month`,
  deposits: sql`m.deposits`,
  depositedBaseUnits: sql`m.deposited`,
  unspentBaseUnits: sql`m.unspent`,
  unspentAtDayPriceMicroUsd: microUsdAt('p', sql`m.unspent`),
}

/**
 * Lists the deposits by month, for tabs that are not empty. A tab spends its oldest deposit first. The unspent amounts
 * sum to the balance of `Liabilities:Prepaid`.
 */
export async function prepaidByMonth(database: Database, { mint }: SumsQuestion): Promise<ReportTable> {
  const rows = await readMonths(database, mint)
  const sumOf = (column: string) => rows.reduce((sum, row) => sum + BigInt(row[column] ?? 0), 0n)
  const totals = { depositedBaseUnits: sumOf('depositedBaseUnits'), unspentBaseUnits: sumOf('unspentBaseUnits') }
  return { columns: Object.keys(columns), rows: rows.map(cellsOf), totals, next: undefined }
}

const what = 'the prepaid amounts'
const prefix = prepaidOn('')

/**
 * Assigns the balance of each tab to its newest deposits first, because the oldest deposit is spent first. Ignores
 * deposits that the chain dropped.
 */
async function readMonths(database: Database, mint: string): Promise<readonly SqlRow[]> {
  const holding = await readRows(database, what)<{ name: string; balance: string }>`
    select name, (-balance)::text as balance from ledger.accounts
    where mint = ${mint} and name like ${`${prefix}%`} and balance <> 0`
  const tabs = holding.map(({ name }) =>
    Buffer.from(assertPresent(readTabId(name.slice(prefix.length)), 'the account of a tab has its id')),
  )
  return readRows(database, what)<SqlRow>`
    select ${selectList(columns)}
    from (
      select to_char(d.at at time zone 'UTC', 'YYYY-MM') as month, count(*)::bigint as deposits,
        sum(d.amount) as deposited, sum(greatest(0, least(d.amount, d.balance - d.newer))) as unspent
      from (
        select e.effective_at as at, a.amount, h.balance,
          sum(a.amount) over (partition by h.tab order by e.seq desc) - a.amount as newer
        from unnest(${tabs}::bytea[], ${holding.map(({ balance }) => balance)}::numeric[]) as h (tab, balance)
        join ledger.keys k on k.space = ${depositSpace} and k.key >= h.tab and k.key < h.tab || decode(repeat('ff', 17), 'hex')
        join ledger.streams s on s.id = k.id and split_part(s.state, '.', 1) = 'fulfilled'
        cross join lateral ledger.read(k.id) e
        cross join lateral (select (convert_from(e.body, 'UTF8')::jsonb ->> 'depositBaseUnits')::numeric as amount) a
        where e.kind in ('TabOpened', 'TabToppedUp')
      ) d
      group by 1
    ) m
    left join lateral (${pricedBy(mint, sql`'infinity'::date`)}) p on true
    order by m.month`
}

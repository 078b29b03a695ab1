import { sql } from 'kysely'
import { assertPresent } from '@tollbook/core/assert'
import { readTabId } from '@tollbook/core/tab'
import { prepaidOn } from '../accounting/account.ts'
import { type Database, readOrFault } from '../store/database.ts'
import { depositSpace } from '../store/tabKeys.ts'
import { priceOn, valueAt } from './dayPrice.ts'
import { type ReportTable, type SqlRow, cellsOf } from './reportTable.ts'
import type { SumsQuestion } from './sums.ts'

const columns = ['month', 'deposits', 'depositedBaseUnits', 'unspentBaseUnits', 'unspentAtDayPriceMicroUsd'] as const

/**
 * The tabs that hold something, by the month of the deposit. A tab spends its oldest deposit first. The unspent amounts
 * sum to the balance of `Liabilities:Prepaid`.
 */
export async function prepaidByMonth(database: Database, { mint }: SumsQuestion): Promise<ReportTable> {
  const found = await readOrFault('what tabs hold', async () => ({
    rows: await readMonths(database, await readHolding(database, mint)),
    price: await priceOn(database, { mint, day: 'infinity' }),
  }))
  const rows = found.rows.map((row) => {
    const unspentBaseUnits = BigInt(row['unspentBaseUnits'] ?? 0)
    return { ...cellsOf(row), unspentAtDayPriceMicroUsd: Number(valueAt(unspentBaseUnits, found.price)) }
  })
  const sumOf = (column: string) => found.rows.reduce((sum, row) => sum + BigInt(row[column] ?? 0), 0n)
  const totals = { depositedBaseUnits: sumOf('depositedBaseUnits'), unspentBaseUnits: sumOf('unspentBaseUnits') }
  return { columns, rows, totals, next: undefined }
}

interface Holding {
  readonly tab: Buffer
  readonly balance: string
}

const prefix = prepaidOn('')

async function readHolding(database: Database, mint: string): Promise<readonly Holding[]> {
  const { rows } = await sql<{ name: string; balance: string }>`
    select name, (-balance)::text as balance from ledger.accounts
    where mint = ${mint} and name like ${`${prefix}%`} and balance <> 0`.execute(database)
  return rows.map(({ name, balance }) => {
    const tab = assertPresent(readTabId(name.slice(prefix.length)), 'the account of a tab has its id')
    return { tab: Buffer.from(tab), balance }
  })
}

/** Newest deposits first, each takes what is left of the balance. A deposit that the chain dropped is not counted. */
async function readMonths(database: Database, holding: readonly Holding[]): Promise<readonly SqlRow[]> {
  const { rows } = await sql<SqlRow>`
    select to_char(d.at at time zone 'UTC', 'YYYY-MM') as month, count(*)::bigint as deposits,
      sum(d.amount)::text as "depositedBaseUnits", sum(greatest(0, least(d.amount, d.balance - d.newer)))::text as "unspentBaseUnits"
    from (
      select e.effective_at as at, a.amount, h.balance,
        sum(a.amount) over (partition by h.tab order by e.seq desc) - a.amount as newer
      from unnest(${holding.map(({ tab }) => tab)}::bytea[], ${holding.map(({ balance }) => balance)}::numeric[]) as h (tab, balance)
      join ledger.keys k on k.space = ${depositSpace} and k.key >= h.tab and k.key < h.tab || decode(repeat('ff', 17), 'hex')
      join ledger.streams s on s.id = k.id and split_part(s.state, '.', 1) = 'fulfilled'
      cross join lateral ledger.read(k.id) e
      cross join lateral (select (convert_from(e.body, 'UTF8')::jsonb ->> 'depositBaseUnits')::numeric as amount) a
      where e.kind in ('TabOpened', 'TabToppedUp')
    ) d
    group by 1
    order by 1`.execute(database)
  return rows
}

import { sql } from 'kysely'
import { type Database, readOrFault } from '../store/database.ts'
import { microUsdAt, pricedBy } from './dayPrice.ts'
import { cellsOf, pageOf, type ReportTable, type SqlRow } from './reportTable.ts'
import type { SumsQuestion } from './sums.ts'

const columns = ['account', 'wallet', 'owedBaseUnits', 'owedAtDayPriceMicroUsd', 'entries', 'lastMovedAt'] as const

/** Every account under Liabilities with a balance, including kinds of accounts that this code does not know. */
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

/** Reads along the unique index by account name. */
function listQuery({ mint, owedTo, cursor, limit }: SumsQuestion) {
  return sql<SqlRow>`
    select a.name as account, case when ${toWallet(sql`a.name`)} then nullif(split_part(a.name, ':', 3), '') end as wallet,
      (-a.balance)::text as "owedBaseUnits", ${microUsdAt('p', sql`-a.balance`)} as "owedAtDayPriceMicroUsd", a.entries,
      to_char(e.recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastMovedAt"
    from ledger.accounts a
    left join ledger.events e on e.seq = a.upto_seq
    left join lateral (${pricedBy(mint, sql`'infinity'::date`)}) p on true
    where a.mint = ${mint} and a.name > ${cursor ?? ''} and a.name like 'Liabilities:%' and a.balance <> 0
      and ${isOwedTo(owedTo, sql`a.name`)}
    order by a.name
    limit ${limit + 1}`
}

/** Reads the totals, one row per kind of account, whatever the number of wallets. */
function totalsQuery({ mint, owedTo }: SumsQuestion) {
  return sql<SqlRow>`
    select coalesce(sum(credits - debits), 0)::text as "owedBaseUnits"
    from reports.daily_totals
    where mint = ${mint} and day = '-infinity' and account like 'Liabilities:%'
      and ${isOwedTo(owedTo, sql`account`)}`
}

/**
 * Selects the accounts of the question. The lower bound for shares lets the query skip most wallets, whose names sort
 * before.
 */
function isOwedTo(owedTo: SumsQuestion['owedTo'], account: ReturnType<typeof sql>) {
  if (owedTo === 'all') return sql`true`
  if (owedTo === 'wallets') return toWallet(account)
  return sql`(${account} >= 'Liabilities:Share:' and ${account} like 'Liabilities:Share:%')`
}

/** Selects debts to wallets: every liability except shares, burns, undelivered payments and tabs, which are in use. */
function toWallet(account: ReturnType<typeof sql>) {
  return sql`(${account} not in ('Liabilities:Unearned', 'Liabilities:BurnOwed') and ${account} not like 'Liabilities:Share:%'
    and ${account} not like 'Liabilities:Prepaid%')`
}

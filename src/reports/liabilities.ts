import { type RawBuilder, sql } from 'kysely'
import { type Database, readRows } from '../store/database.ts'
import { microUsdAt, pricedBy } from './dayPrice.ts'
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

const columns: SqlColumns = {
  account: sql`a.name`,
  wallet: sql`case when ${toWallet(sql`a.name`)} then nullif(split_part(a.name, ':', 3), '') end`,
  owedBaseUnits: sql`-a.balance`,
  owedAtDayPriceMicroUsd: microUsdAt('p', sql`-a.balance`),
  entries: sql`a.entries`,
  lastMovedAt: isoTimeOf(sql`e.recorded_at`),
}

/** Lists the liabilities, including accounts of unknown kinds, so that the list has every debt. */
export async function liabilities(database: Database, question: SumsQuestion): Promise<ReportTable> {
  const { mint, owedTo, cursor, limit } = question
  // Page by account name, because a unique index has this order.
  const rows = await readRows(database, 'the liabilities')<SqlRow>`
    select ${selectList(columns)}
    from ledger.accounts a
    left join ledger.events e on e.seq = a.upto_seq
    left join lateral (${pricedBy(mint, sql`'infinity'::date`)}) p on true
    where a.mint = ${mint} and a.name > ${cursor ?? ''} and a.name like 'Liabilities:%' and a.balance <> 0
      and ${isOwedTo(owedTo, sql`a.name`)}
    order by a.name
    limit ${limit + 1}`
  // Sum the reports, because they have one row per kind of account for all wallets together.
  const [totals = {}] = await readRows(database, 'the liabilities')<SqlRow>`
    select coalesce(sum(credits - debits), 0)::text as "owedBaseUnits"
    from reports.daily_totals
    where mint = ${mint} and day = '-infinity' and account like 'Liabilities:%' and ${isOwedTo(owedTo, sql`account`)}`
  const { page, last } = pageOf(rows, question)
  const next = last === undefined ? undefined : String(last['account'])
  return { columns: Object.keys(columns), rows: page.map(cellsOf), totals: cellsOf(totals), next }
}

/**
 * Limits the query to the creditors in `owedTo`. For shares, `>=` lets the index skip the accounts that sort before
 * `Share`, because there may be one for each wallet.
 */
function isOwedTo(owedTo: SumsQuestion['owedTo'], account: RawBuilder<unknown>) {
  if (owedTo === 'all') return sql`true`
  if (owedTo === 'wallets') return toWallet(account)
  return sql`(${account} >= 'Liabilities:Share:' and ${account} like 'Liabilities:Share:%')`
}

/**
 * Selects debts to wallets: every liability except shares, burns, undelivered payments, and tabs, which are still in
 * use.
 */
function toWallet(account: RawBuilder<unknown>) {
  return sql`(${account} not in ('Liabilities:Unearned', 'Liabilities:BurnOwed') and ${account} not like 'Liabilities:Share:%'
    and ${account} not like 'Liabilities:Prepaid%')`
}

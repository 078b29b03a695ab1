import { sql } from 'kysely'
import { assertPresent } from '@tollbook/core/assert'
import { readTabId } from '@tollbook/core/tab'
import { accounts, prepaidOn } from '../accounting/account.ts'
import { type Database, readRows } from '../store/database.ts'
import { depositSpace } from '../store/tabKeys.ts'
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

const deposited = sql`(d.deposited - l.taken_back)`

const columns: SqlColumns = {
  tab: sql`o.body ->> 'tab'`,
  wallet: sql`o.body ->> 'wallet'`,
  state: sql`case when l.is_closed then 'closed' else 'open' end`,
  openedAt: isoTimeOf(sql`o.at`),
  endsAt: isoTimeOf(sql`(timestamptz 'epoch' + (o.body #>> '{terms,endsAtMs}')::float8 * interval '1 millisecond')`),
  deposits: sql`d.deposits`,
  depositedBaseUnits: deposited,
  spentBaseUnits: sql`${deposited} - l.returned - b.balance`,
  returnedBaseUnits: sql`l.returned`,
  balanceBaseUnits: sql`b.balance`,
  balanceAtDayPriceMicroUsd: microUsdAt('p', sql`b.balance`),
}

/** Lists the tabs by id. For each tab, deposited = spent or held + returned + balance. */
export async function tabList(database: Database, question: SumsQuestion): Promise<ReportTable> {
  const { mint, wallet } = question
  const { page, last } = pageOf(await readTabs(database, question), question)
  // Return no totals for one wallet, because no bounded query sums the tabs of one wallet.
  const totals = wallet === undefined ? { balanceBaseUnits: await readTotal(database, mint) } : undefined
  const next = last === undefined ? undefined : String(last['tab'])
  return { columns: Object.keys(columns), rows: page.map(cellsOf), totals, next }
}

/**
 * Finds the tabs by the keys of their opening deposits. Such a key contains the bytes of the tab twice. The keys have
 * the order of an index, so that reading stops when the page is full. Tabs of other wallets and mints are read and
 * skipped.
 */
async function readTabs(database: Database, { mint, wallet, cursor, limit }: SumsQuestion): Promise<readonly SqlRow[]> {
  const after = Buffer.from(cursor === undefined ? '' : assertPresent(readTabId(cursor), 'a cursor is a tab'))
  return readRows(database, 'the tabs')<SqlRow>`
    select ${selectList(columns)}
    from (
      select substring(k.key for 16) as tab, k.key, k.id
      from ledger.keys k
      where k.space = ${depositSpace} and k.key >= ${after} and substring(k.key for 16) <> ${after}
        and substring(k.key from 17) = substring(k.key for 16)
    ) t
    cross join lateral (
      select convert_from(e.body, 'UTF8')::jsonb as body, e.effective_at as at from ledger.read(t.id) e where e.kind = 'TabOpened'
    ) o
    cross join lateral (
      select count(*) filter (where e.kind <> 'DepositReversed')::bigint as deposits,
        coalesce(sum((e.body ->> 'depositBaseUnits')::numeric), 0) - coalesce(sum((e.body ->> 'takenBackBaseUnits')::numeric), 0) as deposited
      from ledger.keys k
      cross join lateral (
        select r.kind, convert_from(r.body, 'UTF8')::jsonb as body from ledger.read(k.id) r
        where r.kind in ('TabOpened', 'TabToppedUp', 'DepositReversed')
      ) e
      where k.space = ${depositSpace} and k.key >= t.tab and k.key < t.tab || decode(repeat('ff', 17), 'hex')
    ) d
    cross join lateral (
      select coalesce(sum((e.body ->> 'restBaseUnits')::numeric), 0) as returned,
        coalesce(sum((e.body ->> 'takenBackBaseUnits')::numeric), 0) as taken_back,
        coalesce(bool_or(e.kind = 'TabClosed'), false) as is_closed
      from (select r.kind, convert_from(r.body, 'UTF8')::jsonb as body from ledger.read('\\x06'::bytea || t.tab) r) e
    ) l
    cross join lateral (
      select coalesce(sum(-a.balance), 0) as balance from ledger.accounts a
      where a.mint = ${mint} and a.name = ${prepaidOn('')} || (o.body ->> 'tab')
    ) b
    left join lateral (${pricedBy(mint, sql`'infinity'::date`)}) p on true
    where o.body ->> 'mint' = ${mint} and ${wallet === undefined ? sql`true` : sql`o.body ->> 'wallet' = ${wallet}`}
    order by t.key
    limit ${limit + 1}`
}

async function readTotal(database: Database, mint: string): Promise<bigint> {
  const [total] = await readRows(database, 'the tabs')<{ balance: string }>`
    select coalesce(sum(credits - debits), 0)::text as balance from reports.daily_totals
    where mint = ${mint} and day = '-infinity' and account = ${accounts.prepaid}`
  return BigInt(total?.balance ?? 0)
}

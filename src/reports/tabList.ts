import { sql } from 'kysely'
import { assertPresent } from '@tollbook/core/assert'
import { isoTime } from '@tollbook/core/clock'
import { readTabId, tabIdOf } from '@tollbook/core/tab'
import { accounts, prepaidOn } from '../accounting/account.ts'
import { type Database, readOrFault } from '../store/database.ts'
import { depositSpace } from '../store/tabKeys.ts'
import { priceOn, valueAt } from './dayPrice.ts'
import { pageOf, type ReportRow, type ReportTable } from './reportTable.ts'
import type { SumsQuestion } from './sums.ts'

const columns = [
  'tab',
  'wallet',
  'state',
  'openedAt',
  'endsAt',
  'deposits',
  'depositedBaseUnits',
  'spentBaseUnits',
  'returnedBaseUnits',
  'balanceBaseUnits',
  'balanceAtDayPriceMicroUsd',
] as const

interface TabRow {
  readonly tab: Buffer
  readonly wallet: string
  readonly mint: string
  readonly opened_at: Date
  readonly ends_at_ms: string
  readonly deposits: number
  readonly deposited: string
  readonly returned: string
  readonly is_closed: boolean
}

/** Lists all tabs in the order of their ids: deposited = spent or held + returned + balance. */
export async function tabList(database: Database, question: SumsQuestion): Promise<ReportTable> {
  const { mint, wallet } = question
  return readOrFault('the tabs', async () => {
    const { page, last } = pageOf(await readTabs(database, question), question)
    const balances = await readBalances(database, page)
    const price = await priceOn(database, { mint, day: 'infinity' })
    const rows = page.map((row): ReportRow => {
      const tab = tabIdOf(row.tab)
      const balanceBaseUnits = balances.get(tab) ?? 0n
      const [depositedBaseUnits, returnedBaseUnits] = [BigInt(row.deposited), BigInt(row.returned)]
      return {
        tab,
        wallet: row.wallet,
        state: row.is_closed ? 'closed' : 'open',
        openedAt: isoTime(row.opened_at.getTime()),
        endsAt: isoTime(Number(row.ends_at_ms)),
        deposits: row.deposits,
        depositedBaseUnits,
        spentBaseUnits: depositedBaseUnits - returnedBaseUnits - balanceBaseUnits,
        returnedBaseUnits,
        balanceBaseUnits,
        balanceAtDayPriceMicroUsd: Number(valueAt(balanceBaseUnits, price)),
      }
    })
    const totals = wallet === undefined ? { balanceBaseUnits: await readTotal(database, mint) } : undefined
    return { columns, rows, totals, next: last === undefined ? undefined : tabIdOf(last.tab) }
  })
}

/** A tab is found by the key of the deposit that opened it, which has the bytes of the tab twice. */
async function readTabs(database: Database, { mint, wallet, cursor, limit }: SumsQuestion): Promise<readonly TabRow[]> {
  const after = Buffer.from(cursor === undefined ? '' : assertPresent(readTabId(cursor), 'a cursor is a tab'))
  const { rows } = await sql<TabRow>`
    select t.tab, o.body ->> 'wallet' as wallet, o.body ->> 'mint' as mint, o.at as opened_at,
      o.body #>> '{terms,endsAtMs}' as ends_at_ms, d.deposits, (d.deposited - l.taken_back)::text as deposited, l.returned::text as returned, l.is_closed
    from (
      select substring(k.key for 16) as tab, k.id
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
    where o.body ->> 'mint' = ${mint} and ${wallet === undefined ? sql`true` : sql`o.body ->> 'wallet' = ${wallet}`}
    order by t.tab
    limit ${limit + 1}`.execute(database)
  return rows
}

async function readBalances(database: Database, tabs: readonly TabRow[]): Promise<ReadonlyMap<string, bigint>> {
  const prefix = prepaidOn('')
  const names = tabs.map(({ tab }) => prepaidOn(tabIdOf(tab)))
  const { rows } = await sql<{ name: string; balance: string }>`
    select name, (-balance)::text as balance from ledger.accounts where name = any(${names}::text[])`.execute(database)
  return new Map(rows.map(({ name, balance }) => [name.slice(prefix.length), BigInt(balance)]))
}

async function readTotal(database: Database, mint: string): Promise<bigint> {
  const { rows } = await sql<{ balance: string }>`
    select coalesce(sum(credits - debits), 0)::text as balance from reports.daily_totals
    where mint = ${mint} and day = '-infinity' and account = ${accounts.prepaid}`.execute(database)
  return BigInt(rows[0]?.balance ?? 0)
}

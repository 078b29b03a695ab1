import { sql } from 'kysely'
import { assert } from '@tollbook/core/assert'
import { type Database, readRows } from '../store/database.ts'

/**
 * Returns the names of the shares of payments: first those of the split in force, in order, then those of earlier
 * splits with an account. Without a mint, returns the share names of all mints. Reports derive their columns from these
 * names.
 */
export async function readShareNames(database: Database, mint?: string): Promise<readonly string[]> {
  const ofMint = mint === undefined ? sql`true` : sql`mint = ${mint}`
  // Read one name more than permitted, so that the assertion below detects too many.
  const rows = await readRows(database, 'the names of the shares')<{ name: string }>`
    select f.name
    from (
      select 1 as source, p.nth, p.part ->> 'account' as name
      from (select body from ledger.settings where name = 'prices' order by number desc limit 1) newest
      cross join lateral jsonb_array_elements(convert_from(newest.body, 'UTF8')::jsonb -> 'split') with ordinality as p (part, nth)
      where p.part ->> 'account' <> 'burn'
      union all
      select 2, a.id, substr(a.name, 19) from ledger.accounts a where ${ofMint} and a.name like 'Liabilities:Share:%'
    ) f
    group by f.name
    order by min(f.source), min(f.nth)
    limit ${sharesMax + 1}`
  assert(rows.length <= sharesMax, `a ledger has at most ${sharesMax} shares`)
  return rows.map(({ name }) => name)
}

// Maximum of shares, because each share is a column of several reports.
const sharesMax = 100

// A share with one of these names would collide with another column of a report or an export.
const otherColumns: ReadonlySet<string> = new Set([
  'allocated',
  'burned',
  'burn-owed',
  'credit',
  'debit',
  'deposited',
  'lost',
  'owed',
  'paid',
  'paid-by-tab',
  'prepaid',
  'received',
  'required',
  'token-burn',
  'unearned',
])

/**
 * Converts a share's name such as `provider` to the column `providerBaseUnits`. A share with the name of another column
 * becomes, for example, `share-paidBaseUnits`.
 */
export function shareColumn(name: string): string {
  return `${columnStem(name)}BaseUnits`
}

/** Converts a share's name such as `provider` to `provider_base_units`, its column in exported files. */
export function exportedShareColumn(name: string): string {
  return `${columnStem(name).replaceAll('-', '_')}_base_units`
}

function columnStem(name: string): string {
  return otherColumns.has(name) || name.startsWith('share-') ? `share-${name}` : name
}

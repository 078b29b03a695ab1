import { assert, assertPresent } from '@tollbook/core/assert'
import { symbolOfMint } from '../payment/dollar.ts'
import { type Database, assertRow, readRows } from './database.ts'

/** `name` is the commodity of the mint in journals. */
export interface LedgerMint {
  readonly mint: string
  readonly decimals: number
  readonly name: string
}

export class UnknownMint extends Error {
  override readonly name = 'UnknownMint'
}

/**
 * Returns the token of the first price list, then the others in the order of their first payments. The order must not
 * change, because the commodity names TOKENB, TOKENC and so on follow from it.
 */
export async function readLedgerMints(database: Database): Promise<readonly LedgerMint[]> {
  const mints = await readMints(database)
  assert(new Set(mints).size === mints.length, 'each mint is listed once')
  const others = mints.filter((mint) => symbolOfMint(mint) === undefined)
  return Promise.all(
    mints.map(async (mint) => {
      const decimals = await readDecimals(database, mint)
      return { mint, decimals, name: symbolOfMint(mint) ?? tokenName(others.indexOf(mint)) }
    }),
  )
}

/** Finds a mint by its name or address. Throws `UnknownMint` for a mint that the ledger does not have. */
export async function findLedgerMint(database: Database, text: string): Promise<LedgerMint> {
  const mints = await readLedgerMints(database)
  const found = mints.find(({ mint, name }) => mint === text || name === text.toUpperCase())
  if (found !== undefined) return found
  throw new UnknownMint(`must be ${mints.map(({ mint, name }) => `${name} (${mint})`).join(', ')} (got ${text})`)
}

/**
 * Reads the mints by skipping along the unique index on mint and name. A full scan would read one account for each
 * wallet that overpaid.
 */
async function readMints(database: Database): Promise<readonly string[]> {
  const rows = await readRows(database, what)<{ mint: string }>`
    with recursive found as (
      select min(mint) as mint from ledger.accounts
      union all
      select (select min(a.mint) from ledger.accounts a where a.mint > f.mint) from found f where f.mint is not null
    )
    select f.mint
    from found f
    where f.mint is not null
    order by f.mint is distinct from (
        select convert_from(s.body, 'UTF8')::jsonb #>> '{prices,0,mint}' from ledger.settings s
        where s.name = 'prices' order by s.number limit 1),
      (select a.id from ledger.accounts a where a.mint = f.mint and a.name = 'Assets:PaymentWallet'), f.mint`
  return rows.map(({ mint }) => mint)
}

/**
 * Returns the decimals of a mint from its setting. A ledger that began before mints were recorded lacks this setting.
 * The decimals then come from the newest price list with a price in the mint, or from the first payment.
 */
async function readDecimals(database: Database, mint: string): Promise<number> {
  const { decimals } = await assertRow(database, what)<{ decimals: number | null }>`
    select coalesce(
      (
        select (convert_from(s.body, 'UTF8')::jsonb #>> '{value,decimals}')::integer
        from ledger.settings s
        where s.name = ${`mint/${mint}`} and s.number = 1
      ),
      (
        select (p.price ->> 'decimals')::integer
        from ledger.settings s
        cross join lateral jsonb_array_elements(convert_from(s.body, 'UTF8')::jsonb -> 'prices') as p (price)
        where s.name = 'prices' and p.price ->> 'mint' = ${mint}
        order by s.number desc
        limit 1
      ),
      (
        select (convert_from(e.body, 'UTF8')::jsonb #>> '{settlement,price,decimals}')::integer
        from ledger.events e
        where e.kind = 'PaymentVerified' and convert_from(e.body, 'UTF8')::jsonb #>> '{settlement,price,mint}' = ${mint}
        order by e.seq
        limit 1
      )) as decimals`
  return assertPresent(decimals ?? undefined, `the ledger has the decimals of ${mint}`)
}

const what = 'the mints of the ledger'

/**
 * Returns TOKEN, TOKENB, TOKENC and so on. A mint's address is not a valid commodity of a journal, and digits would
 * need quotes.
 */
function tokenName(index: number): string {
  return index <= 0 ? 'TOKEN' : `TOKEN${String.fromCodePoint(65 + (index % 26)).repeat(1 + Math.floor(index / 26))}`
}

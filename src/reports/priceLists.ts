import { sql } from 'kysely'
import type { Database } from '../store/database.ts'

/** Body of the newest price list. Undefined before the first one. */
export async function newestPriceList(database: Database): Promise<string | undefined> {
  const { rows } = await sql<{ body: Buffer }>`
    select body from ledger.settings where name = 'prices' order by number desc limit 1`.execute(database)
  return rows[0]?.body.toString('utf8')
}

/** Decimals of a mint, from the newest price list with a price in it. Undefined if the mint never had a price. */
export async function pricedDecimals(database: Database, mint: string): Promise<number | undefined> {
  const { rows } = await sql<{ decimals: number }>`
    select (p.price ->> 'decimals')::integer as decimals
    from ledger.settings s
    cross join lateral jsonb_array_elements(convert_from(s.body, 'UTF8')::jsonb -> 'prices') as p (price)
    where s.name = 'prices' and p.price ->> 'mint' = ${mint}
    order by s.number desc
    limit 1`.execute(database)
  return rows[0]?.decimals
}

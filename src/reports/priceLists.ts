import { sql } from 'kysely'
import type { Database } from '../store/database.ts'

/** Body of the newest price list. Undefined before the first one. */
export async function newestPriceList(database: Database): Promise<string | undefined> {
  const { rows } = await sql<{ body: Buffer }>`
    select body from ledger.settings where name = 'prices' order by number desc limit 1`.execute(database)
  return rows[0]?.body.toString('utf8')
}

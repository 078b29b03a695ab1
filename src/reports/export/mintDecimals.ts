import { sql } from 'kysely'
import { assert, assertPresent } from '@tollbook/core/assert'
import { pricedDecimals } from '../priceLists.ts'
import type { Decimals } from './table.ts'
import { readMints } from './mints.ts'
import type { Snapshot } from './snapshot.ts'

/** Decimals of each mint in the ledger, from price lists and verified payments. Entries do not have them. */
export async function mintDecimals(snapshot: Snapshot): Promise<Decimals> {
  const decimals = new Map<string, number>()
  for (const mint of await readMints(snapshot)) {
    const known = (await pricedDecimals(snapshot, mint)) ?? (await paidDecimals(snapshot, mint))
    decimals.set(mint, assertPresent(known, `the ledger has a price in ${mint}`))
  }
  return (mint) => {
    const known = decimals.get(mint)
    assert(known !== undefined, `the ledger has an account in each mint of its entries, and so in ${mint}`)
    return known
  }
}

async function paidDecimals(snapshot: Snapshot, mint: string): Promise<number | undefined> {
  const { rows } = await sql<{ decimals: number }>`
    select (convert_from(body, 'UTF8')::jsonb #>> '{settlement,price,decimals}')::integer as decimals
    from ledger.events
    where kind = 'PaymentVerified' and convert_from(body, 'UTF8')::jsonb #>> '{settlement,price,mint}' = ${mint}
    order by seq
    limit 1`.execute(snapshot)
  return rows[0]?.decimals
}

import { sql } from 'kysely'
import type { Snapshot } from './snapshot.ts'

/** Mints in a fixed order, so that a mint keeps its name in every journal. */
export async function readMints(snapshot: Snapshot): Promise<readonly string[]> {
  const { rows } = await sql<{ mint: string }>`select mint from ledger.accounts group by mint order by min(id)`.execute(
    snapshot,
  )
  return rows.map(({ mint }) => mint)
}

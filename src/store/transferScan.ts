import { sql } from 'kysely'
import { assert, assertPresent } from '@tollbook/core/assert'
import type { ScanPlace } from '../payment/paymentLifecycle.ts'
import { readSignature } from '@tollbook/core/signature'
import { type Database, readOrFault } from './database.ts'
import type { Lease } from './election.ts'

/**
 * Returns the position up to which transfers of this token account were searched. Undefined until a search has stored a
 * position.
 */
export async function readScanPlace(database: Database, tokenAccount: string): Promise<ScanPlace | undefined> {
  const row = await readOrFault('the position of the search for transfers', () =>
    database
      .selectFrom('paywall.transfer_scans')
      .select(['signature', 'slot'])
      .where('token_account', '=', tokenAccount)
      .executeTakeFirst(),
  )
  if (row === undefined) return undefined
  return { signature: assertPresent(readSignature(row.signature), 'a stored place is a signature'), slot: row.slot }
}

export interface ScanMove {
  readonly tokenAccount: string
  readonly place: ScanPlace
  /** Lease of the search, because the database refuses the move of an instance that was replaced. */
  readonly lease: Lease | undefined
}

/** Throws if another instance has taken the lease. The database ignores a place in an earlier slot than before. */
export async function advanceScan(database: Database, { tokenAccount, place, lease }: ScanMove): Promise<void> {
  const { signature, slot } = place
  assert(slot >= 0, 'a place is in a slot')
  const move = sql`
    select paywall.move_transfer_scan(${lease?.name ?? null}, ${lease?.epoch ?? null}, ${tokenAccount}, ${signature}, ${slot})`
  await readOrFault('the position of the search for transfers', () => move.execute(database))
}

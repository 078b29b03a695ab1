import { sql } from 'kysely'
import { assert, assertPresent } from '@tollbook/core/assert'
import type { ScanPlace } from '../payment/paymentLifecycle.ts'
import { readSignature } from '@tollbook/core/signature'
import { type Database, readOrFault } from './database.ts'

export async function readScanPlace(database: Database, tokenAccount: string): Promise<ScanPlace | undefined> {
  const row = await readOrFault('how far transfers were searched', () =>
    database
      .selectFrom('paywall.transfer_scans')
      .select(['signature', 'slot'])
      .where('token_account', '=', tokenAccount)
      .executeTakeFirst(),
  )
  if (row === undefined) return undefined
  return { signature: assertPresent(readSignature(row.signature), 'a stored place is a signature'), slot: row.slot }
}

export async function moveScanPlace(database: Database, tokenAccount: string, place: ScanPlace): Promise<void> {
  assert(place.slot >= 0, 'a place is in a slot')
  await readOrFault('how far transfers were searched', () =>
    sql`select paywall.move_transfer_scan(${tokenAccount}, ${place.signature}, ${place.slot})`.execute(database),
  )
}

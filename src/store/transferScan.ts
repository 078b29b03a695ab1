import { sql } from 'kysely'
import { assertPresent } from '@tollbook/core/assert'
import type { ScanPlace } from '../payment/paymentLife.ts'
import { type Signature, readSignature, signatureBytes, signatureOfBytes } from '@tollbook/core/signature'
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
  await readOrFault('how far transfers were searched', () =>
    sql`select paywall.move_transfer_scan(${tokenAccount}, ${place.signature}, ${place.slot})`.execute(database),
  )
}

export async function findAccounted(
  database: Database,
  signatures: readonly Signature[],
): Promise<ReadonlySet<Signature>> {
  if (signatures.length === 0) return new Set()
  const bytes = signatures.map((signature) => Buffer.from(signatureBytes(signature)))
  const payments = await readOrFault('payments', () =>
    database
      .selectFrom('ledger.payments')
      .select('signature')
      .where('signature', 'in', bytes)
      .where('state', 'not in', ['submitted', 'reversed'])
      .execute(),
  )
  const payouts = await readOrFault('payouts', () =>
    database
      .selectFrom('ledger.payouts')
      .select('signature')
      .where('signature', 'in', [...signatures])
      .execute(),
  )
  const ofPayments = payments.flatMap((row) => signatureOfBytes(row.signature) ?? [])
  return new Set([...ofPayments, ...payouts.flatMap((row) => readSignature(row.signature) ?? [])])
}

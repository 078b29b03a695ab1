import { sql } from 'kysely'
import { assert, assertNever, assertPresent } from '@tollbook/core/assert'
import { decodeEvent } from '../payment/eventCodec.ts'
import type { OpenPayment, OpenQuestion } from '../payment/paymentLife.ts'
import { evolve, type PaymentState, unknownPayment } from '../payment/payment.ts'
import { type Signature, signatureBytes, signatureOfBytes } from '@tollbook/core/signature'
import { type Database, readOrFault } from './database.ts'

export async function findOpen(
  database: Database,
  question: OpenQuestion,
  max: number,
): Promise<readonly OpenPayment[]> {
  const open = database
    .selectFrom('ledger.payments')
    .select(['signature', 'created_at'])
    .orderBy('created_at')
    .orderBy('signature')
    .limit(max)
  const rows = await readOrFault('open payments', () => {
    switch (question.kind) {
      case 'awaiting_finality': {
        const { after } = question
        const rest = open.where('awaiting_finality', '=', true).where('state', '<>', 'claimed')
        if (after === undefined) return rest.execute()
        const at = [new Date(after.createdAtMs), Buffer.from(signatureBytes(after.signature))] as const
        return rest.where(sql<boolean>`(created_at, signature) > (${at[0]}, ${at[1]})`).execute()
      }
      case 'lease_ended':
        return open
          .where('state', '=', 'claimed')
          .where('lease_until', '<=', sql<Date>`now()`)
          .execute()
      case 'undelivered':
        return open
          .where('state', 'in', ['verified', 'released'])
          .where('awaiting_finality', '=', false)
          .where('created_at', '<=', sql<Date>`now() - ${question.forMs}::float8 * interval '1 millisecond'`)
          .execute()
      default:
        return assertNever(question)
    }
  })
  return rows.map((row) => ({
    signature: assertPresent(signatureOfBytes(row.signature), 'a stored signature has 64 bytes'),
    createdAtMs: row.created_at.getTime(),
  }))
}

/** Several at once, in one question. */
export async function loadPayments(
  database: Database,
  signatures: readonly Signature[],
): Promise<ReadonlyMap<Signature, PaymentState>> {
  const states = new Map<Signature, PaymentState>()
  if (signatures.length === 0) return states
  const rows = await readOrFault('payments', () =>
    database
      .selectFrom('ledger.payments as payment')
      .innerJoin('ledger.events as event', (join) => join.on(sql<boolean>`event.seq = any(payment.seqs)`))
      .select(['payment.signature', 'event.body', 'event.recorded_at'])
      .where(
        'payment.signature',
        'in',
        signatures.map((signature) => Buffer.from(signatureBytes(signature))),
      )
      .orderBy('event.seq')
      .execute(),
  )
  for (const row of rows) {
    const signature = assertPresent(signatureOfBytes(row.signature), 'a stored signature has 64 bytes')
    const { event } = decodeEvent(row.body.toString('utf8'))
    assert(
      event.kind !== 'PriceListPublished' && event.kind !== 'DistributionPaid',
      'the stream of a payment holds payment events',
    )
    states.set(signature, evolve(states.get(signature) ?? unknownPayment, event, row.recorded_at.getTime()))
  }
  return states
}

export async function exposureBaseUnits(database: Database): Promise<bigint> {
  const row = await readOrFault('the exposure', () =>
    database.selectFrom('ledger.exposure').select('amount').executeTakeFirst(),
  )
  return BigInt(assertPresent(row, 'there is one row of exposure').amount)
}

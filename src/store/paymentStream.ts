import { sql } from 'kysely'
import { assert, assertPresent } from '@tollbook/core/assert'
import { decodeEvent } from '../payment/eventCodec.ts'
import { evolve, type PaymentState, unknownPayment } from '../payment/payment.ts'
import type { EarlierUse, LookUp } from '../payment/paymentLedger.ts'
import { type Signature, signatureBytes, signatureOfBytes } from '@tollbook/core/signature'
import { type Database, readOrFault } from './database.ts'

// Submitted, verified, burned, then two events an attempt. Beyond this many attempts something is wrong with a caller.
const eventsMax = 2_000

/** The state of a payment, folded from its events. */
export async function loadPayment(database: Database, signature: Signature): Promise<PaymentState> {
  const rows = await readOrFault('a payment', () =>
    database
      .selectFrom('ledger.payments as payment')
      .innerJoin('ledger.events as event', (join) => join.on(sql<boolean>`event.seq = any(payment.seqs)`))
      .select(['event.body', 'event.recorded_at'])
      .where('payment.signature', '=', signatureBuffer(signature))
      .orderBy('event.seq')
      .limit(eventsMax)
      .execute(),
  )
  return rows.reduce<PaymentState>((state, row) => {
    const { event, version } = decodeEvent(row.body.toString('utf8'))
    assert(
      event.kind !== 'PriceListPublished' && event.kind !== 'DistributionPaid',
      'the stream of a payment holds payment events',
    )
    assert(version === state.version + 1, 'the events of a payment are numbered without a gap')
    return evolve(state, event, row.recorded_at.getTime())
  }, unknownPayment)
}

/** What this wallet did with this idempotency key in the last 24 hours. */
export async function loadEarlierUse(
  database: Database,
  { wallet, idempotencyKey }: LookUp,
): Promise<EarlierUse | undefined> {
  if (idempotencyKey === undefined) return undefined
  const row = await readOrFault('an idempotency key', () =>
    database
      .selectFrom('paywall.idempotent_answers')
      .selectAll()
      .where('wallet', '=', wallet)
      .where('key', '=', idempotencyKey)
      .where('recorded_at', '>', sql<Date>`now() - interval '24 hours'`)
      .executeTakeFirst(),
  )
  if (row === undefined) return undefined
  const signature = assertPresent(signatureOfBytes(row.signature), 'a stored signature has 64 bytes')
  if (row.answer === null) return { signature, orderDigest: row.order_digest, answer: undefined }
  const answer = {
    answerJson: row.answer,
    position: assertPresent(row.fulfilled_seq, 'a stored answer has a position'),
    leafHash: assertPresent(row.fulfilled_leaf, 'a stored answer has a leaf').toString('hex'),
    recordedAtMs: assertPresent(row.fulfilled_at, 'a stored answer has a time').getTime(),
  }
  return { signature, orderDigest: row.order_digest, answer }
}

function signatureBuffer(signature: Signature): Buffer {
  return Buffer.from(signatureBytes(signature))
}

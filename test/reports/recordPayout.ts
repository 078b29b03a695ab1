import type pg from 'pg'
import type { Address } from '@tollbook/core/address'
import { assert, assertPresent } from '@tollbook/core/assert'
import { createEventCodec } from '../../src/payment/eventCodec.ts'
import { distributionPaid, type DistributionPaid } from '../../src/payment/events/payoutEvents.ts'
import { signatureOf } from '../../src/payment/paymentReference.ts'
import { sampleMint, sampleReference } from '../store/samplePayment.ts'

const codec = createEventCodec<DistributionPaid>([distributionPaid])

interface Paid {
  /** Each plan is recorded once. */
  readonly planId: string
  readonly payments: DistributionPaid['payments']
  readonly effectiveAtMs: number
  readonly mint?: Address
}

/** Records a payout of one part. `admin` replaces the login of the payer of payouts. */
export async function recordPayout(
  admin: pg.Pool,
  { planId, payments, effectiveAtMs, mint = sampleMint }: Paid,
): Promise<void> {
  const stream = sampleReference()
  const signature = assertPresent(signatureOf(stream), 'a reference of Solana has a signature')
  const event: DistributionPaid = {
    kind: 'DistributionPaid',
    signature,
    planId,
    part: 1,
    mint,
    slot: 1,
    payments,
  }
  const body = codec.encode(event, { stream, version: 1, effectiveAtMs })
  const { rows } = await admin.query('select refusal from ledger.record_payout($1)', [Buffer.from(body, 'utf8')])
  assert(rows[0]?.refusal === null, `the payout was recorded, not refused as ${rows[0]?.refusal}`)
}

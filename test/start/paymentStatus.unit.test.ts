import { expect, test } from 'vitest'
import { signatureOf } from '../../src/payment/paymentReference.ts'
import { createFindPaymentStatus, type FindStatusDeps } from '../../src/start/finance/openPaymentStatus.ts'
import { referenceNumber, settlementOf, wallet } from '../payment/paymentStory.ts'

const reference = referenceNumber(1)

/** A payment without an attempt whose reports have reached this position of ten. */
async function refundsAt(position: number) {
  const settlement = settlementOf(reference)
  const state = { phase: 'released', version: 1, settlement, attempt: 0, endpoint: '/x', isFinal: true }
  const reports = {
    facts: { payment: () => Promise.resolve({ kind: 'payment', state, stateName: 'released', events: [] }) },
    refundsNow: () => Promise.resolve({ position, headPosition: 10, read: [] }),
  }
  // The whole reports and the whole ledger are more than what is asked here.
  const find = createFindPaymentStatus({ reports } as unknown as FindStatusDeps)
  const status = await find({ signature: signatureOf(reference) ?? '', wallet })
  return status?.['refunds']
}

test('the refunds of a payment are unknown while the reports are behind the ledger, and not none', async () => {
  expect([await refundsAt(9), await refundsAt(10)]).toEqual([null, []])
})

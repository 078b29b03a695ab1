import type pg from 'pg'
import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { transferBaseUnits } from '@tollbook/core/quote'
import { decideExpiry, decideFinality, decideRefund } from '../../src/payment/finality.ts'
import type { PaymentDecision, PaymentState } from '../../src/payment/payment.ts'
import type { Settlement } from '../../src/payment/settlement.ts'
import { paymentItem } from '../../src/store/paymentItem.ts'
import { openKernel, openPool } from '../kernel/openKernel.ts'
import { createTestDatabase } from '../support/database.ts'
import { earlierClaim } from '../support/earlierClaim.ts'
import { mustAppend, openInstance } from './instance.ts'
import { claimOf, fulfilmentOf, releaseOf, samplePrice, sampleSettlement } from './samplePayment.ts'

/*
 * An instance of release 0028 during an upgrade. It appends by `ledger.append`, and knows no burn that is owed with a delivery.
 */

const { serviceUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const earlier = openEarlierInstance()
const nowMs = Date.now()

function openEarlierInstance() {
  const pool = openPool(serviceUrl)
  const query = (config: pg.QueryConfig) =>
    pool.query({ ...config, text: config.text.replace('ledger.append_batch(', 'ledger.append(') })
  return openKernel(Object.assign(Object.create(pool), { query }))
}

const wholePrice = (): Settlement =>
  sampleSettlement({ price: samplePrice('/api/data/weather', 1_000n), burnedBaseUnits: 0n, receivedBaseUnits: 1_000n })

async function append(settlement: Settlement, before: PaymentState, decision: PaymentDecision | undefined) {
  const { reference } = settlement
  const decided = assertPresent(decision, 'the payment is in a state for it')
  return (await mustAppend(ledger, { reference, before, ...decided, nowMs })).after
}

/** Result of the same append by the earlier release: `appended`, or the reason of the refusal. */
async function appendEarlier(settlement: Settlement, before: PaymentState, decision: PaymentDecision | undefined) {
  const { reference } = settlement
  const decided = assertPresent(decision, 'the payment is in a state for it')
  const result = await earlier.append(paymentItem({ reference, before, ...decided, nowMs }))
  return result.outcome === 'appended' ? 'appended' : result.refusal.reason
}

async function claimed(settlement: Settlement, leaseMs = 60_000) {
  const { change, attemptId } = claimOf(settlement, { leaseMs })
  const { after } = await mustAppend(ledger, change)
  return { before: after, attemptId }
}

async function released(settlement: Settlement): Promise<PaymentState> {
  return (await mustAppend(ledger, releaseOf(settlement, await claimed(settlement)))).after
}

const finalized = { kind: 'finalized', slot: 1 } as const
const dropped = { kind: 'reversed', reason: 'absent', finalizedSlot: 1 } as const

test('no step of the earlier release reaches a payment whose burn is owed with its delivery, and its proof stays valid', async () => {
  const settlement = wholePrice()
  const before = await released(settlement)
  expect(await appendEarlier(settlement, before, claimOf(settlement, { before }).change)).toBe('conflict')
  const reversal = assertPresent(decideFinality(before, dropped), 'a released payment can be dropped')
  expect(await appendEarlier(settlement, before, reversal)).toBe('conflict')

  const dead = wholePrice()
  const { before: attempt } = await claimed(dead, 1)
  const expiry = decideExpiry(attempt, { nowMs: nowMs + 60_000, attemptsMax: 10 })
  expect(await appendEarlier(dead, attempt, expiry)).toBe('conflict')

  const final = await append(settlement, before, decideFinality(before, finalized))
  const refund = assertPresent(decideRefund(final), 'a final payment can be owed back')
  const withoutBurn = refund.events.map((event) =>
    event.kind === 'RefundDue' ? { ...event, refundBaseUnits: transferBaseUnits(settlement.price) } : event,
  )
  expect(await appendEarlier(settlement, final, { ...refund, events: withoutBurn })).toBe('conflict')

  const { change, attemptId } = claimOf(settlement, { before: final })
  const { after: again } = await mustAppend(ledger, change)
  const fulfilment = fulfilmentOf(settlement, { before: again, attemptId })
  const unburned = { ...fulfilment, events: fulfilment.events.filter(({ kind }) => kind !== 'BurnOwed') }
  expect(unburned.events).toHaveLength(2)
  expect(await appendEarlier(settlement, again, unburned)).toBe('conflict')
  expect((await mustAppend(ledger, fulfilment)).after.phase).toBe('fulfilled')
})

test('the earlier release serves its own payments, native ones, and those whose burn is owed already', async () => {
  for (const settlement of [sampleSettlement(), wholePrice()]) {
    const claim = claimOf(settlement)
    const first = { ...claim.change, ...earlierClaim(claim.change) }
    expect(await appendEarlier(settlement, first.before, first)).toBe('appended')
    const states = await ledger.lifecycle.loadPayments([settlement.reference])
    const before = assertPresent(states.get(settlement.reference), 'it is in the ledger')
    const fulfilment = fulfilmentOf(settlement, { before, attemptId: claim.attemptId })
    expect(fulfilment.events).toHaveLength(2)
    expect(await appendEarlier(settlement, before, fulfilment)).toBe('appended')
  }
})

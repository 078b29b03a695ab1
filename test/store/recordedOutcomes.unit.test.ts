import { expect, test } from 'vitest'
import { assert, assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { decideBurnFail, decideBurnSubmit, evolveBurn, unknownBurn } from '../../src/payment/burn.ts'
import type { BurnEvent } from '../../src/payment/events.ts'
import { decideApproval, noRefund } from '../../src/payment/refundDecision.ts'
import { createBurnLedger } from '../../src/store/burnStore.ts'
import type { Database } from '../../src/store/database.ts'
import { recordHolderPayout } from '../../src/store/holderPayoutStore.ts'
import { recordPayout } from '../../src/store/payoutStore.ts'
import { createRefundStore } from '../../src/store/refundStore.ts'
import { signatureNumber } from '../jobs/jobFixture.ts'
import { mint, referenceNumber, wallet } from '../payment/paymentStory.ts'
import { scriptedDatabase } from '../support/scriptedDatabase.ts'

/* Outcomes of the functions that other writers than the service call, by the refusal of the ledger. */

const leaf = Buffer.alloc(32, 7)

/** Records with a ledger that answers with this refusal. A fault that must not be repeated is its text. */
async function outcomesOf(record: (database: Database) => Promise<unknown>, refusals: readonly (string | null)[]) {
  const outcomes: unknown[] = []
  for (const refusal of refusals) {
    const row = refusal === null ? { refusal, seq: 9, leaf_hash: leaf } : { refusal, seq: null, leaf_hash: null }
    const outcome = record(scriptedDatabase(() => [row])).catch((error: unknown) =>
      error instanceof Fault && !error.retryable ? 'fault' : String(error),
    )
    outcomes.push(await outcome)
  }
  return outcomes
}

const recorded = { position: 9, leafHash: leaf.toString('hex') }

test('a burn that another job has recorded is overtaken, and any other refusal is a fault', async () => {
  const parts = [{ endpoint: '/api/x', baseUnits: 1n }]
  const delegate = { allowanceBaseUnits: 1n, lamports: 1n }
  const sent = { lastValidHeight: 9, delegate, transactionBase64: '' }
  const round = { round: 1, mint, throughPosition: 1, parts, ...sent }
  const [submitted] = assertPresent(decideBurnSubmit(unknownBurn, round), 'a first round').events
  const verdict = { reason: 'absent', finalizedSlot: 1 } as const
  const [failed] = assertPresent(decideBurnFail(evolveBurn(unknownBurn, submitted), verdict), 'it failed').events
  const record = (event: BurnEvent) => (database: Database) =>
    createBurnLedger(database).record({ signature: signatureNumber(1), event, effectiveAtMs: 0 })
  const refusals = [null, 'key_used', 'round_open', 'conflict', 'more_than_owed']
  const expected = ['recorded', 'overtaken', 'overtaken', 'overtaken', 'fault']
  expect(await outcomesOf(record(submitted), refusals)).toEqual(expected)
  expect(await outcomesOf(record(failed), refusals)).toEqual(expected)
})

test('a plan for holders and a payout that are refused have outcomes, and any other refusal is a fault', async () => {
  const ended = { kind: 'HolderPayoutEnded', planId: 'payout_1', mint, paidBaseUnits: 0n } as const
  const refusals = [null, 'plan_open', 'more_than_owed', 'transaction_unjudged', 'conflict']
  const end = (database: Database) => recordHolderPayout(database, ended, { effectiveAtMs: 0 })
  expect(await outcomesOf(end, refusals)).toEqual(['recorded', ...refusals.slice(1, -1), 'fault'])
  const payments = [{ account: 'Liabilities:Share:provider', wallet, paidBaseUnits: 1n }]
  const head = { kind: 'DistributionPaid', signature: signatureNumber(1), planId: 'payout_1', part: 1 } as const
  const pay = (database: Database) => recordPayout(database, { ...head, mint, slot: 1, payments }, 0)
  expect(await outcomesOf(pay, [null, 'more_than_owed'])).toEqual([
    { outcome: 'recorded', ...recorded },
    { outcome: 'more_than_owed' },
  ])
})

test('a decision about a refund that came second is decided again, and any other refusal is a fault', async () => {
  const decider = { by: 'mira', role: 'finance', login: 'desk', reason: 'asked' } as const
  const debts = [{ account: `Liabilities:Overpaid:${wallet}`, baseUnits: 1n }]
  const question = { payment: referenceNumber(1), wallet, mint, debts, decider, value: undefined }
  const decision = decideApproval({ ...question, limits: { finance: 0n, support: 0n } })
  assert(typeof decision !== 'string', 'finance approves it')
  const approve = (database: Database) => createRefundStore(database, () => 0).record(decision, noRefund)
  const refusals = [null, 'conflict', 'not_this_step', 'overreaching']
  expect(await outcomesOf(approve, refusals)).toEqual([recorded, undefined, undefined, 'fault'])
})

import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import type { PayoutPlan } from '../../src/accounting/payoutPlan.ts'
import { newCustomer } from '../chain/chainFixture.ts'
import { onChain, pay, serve } from '../jobs/lifecycleFixture.ts'
import { openPool } from '../kernel/openKernel.ts'
import { openPayoutFixture, planAll } from './payoutFixture.ts'

/* Two operators pay the same debts at the same time: both plans pass the check, and only then one of them signs. */

const environment = await openPayoutFixture('SPL Token')
const { fixture, payout, destinations } = environment
const admin = openPool(environment.database.adminUrl, 1)
const { settlement } = await pay(environment)
await serve(environment, settlement)
fixture.chain.advanceSlots(32)
await newCustomer(fixture, 1_000n)

const withoutTreasury = async (): Promise<PayoutPlan> => {
  const { plan } = await payout.plan({ destinations, leastBaseUnits: 0n, except: ['Liabilities:Share:treasury'] })
  return assertPresent(plan, 'something is owed')
}

/** Signs part 1 and puts it on record, as `payout send` does before it sends. */
async function recordSigned(plan: PayoutPlan): Promise<void> {
  const { payout: built } = await payout.prepare(plan, 1, fixture.terms.paymentWallet)
  const { transaction, lastValidBlockHeight } = assertPresent(built, 'the part can be paid')
  await payout.recordSignedPart(plan, {
    part: 1,
    ...payout.sign(transaction, [fixture.paymentWallet]),
    lastValidBlockHeight,
  })
}

/** Transactions that were signed and not sent can no longer land. */
function expire(): void {
  fixture.chain.advanceSlots(600)
}

test('of two plans that were checked at once, the second to sign does not send', async () => {
  const [one, other] = [await planAll(environment), await withoutTreasury()]
  expect(one.id).not.toBe(other.id)
  expect([await payout.openParts(one), await payout.openParts(other)]).toEqual([[1], [1]])
  await recordSigned(one)
  await expect(recordSigned(other)).rejects.toThrow('could still land')
  const { rows } = await admin.query<{ plan_id: string }>('select plan_id from work.payout_attempts')
  expect(
    rows.map((row) => row.plan_id),
    'on record before it looked at the first',
  ).toContain(other.id)
  expire()
})

test('of two plans that sign at the same moment, at most one sends', async () => {
  const [one, other] = [await planAll(environment), await withoutTreasury()]
  expect([await payout.openParts(one), await payout.openParts(other)]).toEqual([[1], [1]])
  const outcomes = await Promise.allSettled([recordSigned(one), recordSigned(other)])
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  expect(refused.length).toBeGreaterThan(0)
  for (const reason of refused) expect(reason).toBeInstanceOf(Fault)
  expire()
})

async function planHolders(): Promise<PayoutPlan> {
  const { text: snapshotText } = await payout.holders.snapshot()
  const choices = { share: 'holders', excluded: [], minimumBaseUnits: 1_000n, openAccountsMax: 0 }
  return assertPresent(await payout.holders.plan({ ...choices, snapshotText }), 'the share is owed')
}

const payHolders = (plan: PayoutPlan, signal = new AbortController().signal) =>
  payout.holders.pay({
    plan,
    feePayer: fixture.terms.paymentWallet,
    signers: [fixture.paymentWallet],
    signal,
    onProgress: () => undefined,
  })

test('a plan for holders is not paid while a signed transaction could pay the share', async () => {
  const [plan, holders] = [await planAll(environment), await planHolders()]
  expect(await payout.openParts(plan)).toEqual([1])
  await recordSigned(plan)
  const before = await onChain(environment)
  await expect(payHolders(holders)).rejects.toThrow('could still land')
  expect(await onChain(environment)).toBe(before)
  expire()
  // The share is reserved for the plan of the holders, which was put on record.
  await expect(recordSigned(plan)).rejects.toThrow('owed less')
  expire()
  await payHolders(holders)
  expect(await onChain(environment)).toBe(before - (settlement.price.shares[1]?.baseUnits ?? 0n))
})

async function oweAgain(): Promise<void> {
  await serve(environment, (await pay(environment)).settlement)
  fixture.chain.advanceSlots(32)
}

/** Errors of those that were refused. */
async function refusalsOf(works: readonly Promise<void>[]): Promise<readonly string[]> {
  const outcomes = await Promise.allSettled(works)
  return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []))
}

test('of several processes that sign a part of one plan at once, one sends it', async () => {
  await oweAgain()
  const plan = await withoutTreasury()
  const refusals = await refusalsOf(Array.from({ length: 6 }, () => recordSigned(plan)))
  expect(refusals).toHaveLength(5)
  for (const refusal of refusals) expect(refusal).toMatch(/was sent by another process|could still land/)
  expire()
})

test('of several processes that pay one plan for holders at once, each line is paid once', async () => {
  await oweAgain()
  const before = await onChain(environment)
  const plan = await planHolders()
  const owed = plan.parts.flat().reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
  const refusals = await refusalsOf(Array.from({ length: 4 }, () => payHolders(plan)))
  for (const refusal of refusals) expect(refusal).toContain('another process pays this plan; let it finish')
  await payHolders(plan)
  expect(before - (await onChain(environment))).toBe(owed)
})

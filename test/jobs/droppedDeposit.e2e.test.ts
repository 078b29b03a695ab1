import { expect, test } from 'vitest'
import { isRefusal } from '@tollbook/core/refusal'
import type { TabId, TabTerms } from '@tollbook/core/tab'
import { newId } from '@tollbook/core/id'
import { assert, assertPresent } from '@tollbook/core/assert'
import { tabIdOf } from '@tollbook/core/tab'
import { noFinalityMemory } from '../../src/jobs/finalityJob.ts'
import { decideClaim, decideFulfil } from '../../src/payment/attempt.ts'
import { unknownPayment } from '../../src/payment/payment.ts'
import { streamIdOf, tabRequestReference } from '../../src/payment/paymentReference.ts'
import type { Settlement } from '../../src/payment/settlement.ts'
import { split } from '../../src/pricing/split.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { depositSplit } from '../../src/payment/tabSettlement.ts'
import { mustAppend } from '../store/instance.ts'
import { claimOf, fulfilmentOf, releaseOf } from '../store/samplePayment.ts'
import { balances, finalityRound, openLifecycleFixture, payWithoutBurn, stateOf } from './lifecycleFixture.ts'

/* Deposits that the chain drops: no base unit of them is spent after the reversal, or owed to anyone. */

const environment = await openLifecycleFixture('SPL Token')
const { fixture, clock, ledger } = environment
const memory = noFinalityMemory()
const { requiredBaseUnits } = fixture.price
/** Enough slots that nothing of before can land any more. */
const longAgo = 400
const [, { account }] = depositSplit
const digest = 'ab'.repeat(32)

interface Deposited {
  readonly tab: TabId
  readonly settlement: Settlement
}

/** Deposits the price of the fixture on a new tab, or on a tab. */
async function deposit(on?: TabId): Promise<Deposited> {
  const { settlement: paid } = await payWithoutBurn(environment)
  const shares = [{ account, baseUnits: requiredBaseUnits }]
  const settlement = { ...paid, memo: 'tollbook:x', price: { ...paid.price, burnBaseUnits: 0n, shares } }
  const terms: TabTerms = {
    sessionKey: paid.wallet,
    bearerHash: undefined,
    maxPerRequestBaseUnits: requiredBaseUnits,
    maxPerDayBaseUnits: undefined,
    endsAtMs: Number.MAX_SAFE_INTEGER,
  }
  const tab = on ?? tabIdOf(streamIdOf(paid.reference).subarray(1))
  const { attemptId, change } = claimOf(settlement)
  const { after: before } = await mustAppend(ledger, change)
  const opened = { tab, terms: on === undefined ? terms : undefined }
  const fulfilled = decideFulfil(before, { attemptId, orderDigest: digest, answerDigest: digest, deposit: opened })
  await mustAppend(ledger, {
    reference: settlement.reference,
    before,
    ...assertPresent(fulfilled, 'the attempt is live'),
    nowMs: clock.nowMs(),
  })
  return { tab, settlement }
}

/** Holds an amount for a request that is being served. */
function debit({ tab, settlement }: Deposited, number: bigint, baseUnits: bigint) {
  const divided = split(baseUnits, defaultSplit)
  const debited: Settlement = {
    ...settlement,
    reference: tabRequestReference(tab, number),
    price: { ...settlement.price, endpoint: '/api/x', requiredBaseUnits: baseUnits, ...divided },
    priceList: 1,
    receivedBaseUnits: baseUnits,
    debit: {
      tab,
      number,
      deposit: settlement.reference,
      bearerHash: undefined,
      lifecycle: 0,
      orderDigest: digest,
      signed: {
        sessionKey: settlement.wallet,
        maxBaseUnits: baseUnits,
        validUntilMs: 1,
        requestDigest: digest,
        signature: '',
      },
    },
  }
  const order = { wallet: settlement.wallet, endpoint: '/api/x', digest }
  const attemptId = newId('attempt')
  const claim = { order, settlement: debited, attemptId, leaseMs: 60_000, attemptsMax: 10, nowMs: clock.nowMs() }
  const decision = decideClaim(unknownPayment, claim)
  assert(!isRefusal(decision), 'a debit is decided')
  const change = { reference: debited.reference, before: unknownPayment, ...decision, nowMs: clock.nowMs() }
  return { settlement: debited, attemptId, change }
}

async function reverseAll(): Promise<void> {
  fixture.chain.advanceSlots(longAgo)
  await finalityRound(environment, memory)
  clock.advance(10_000)
  await finalityRound(environment, memory)
}

test('a hold that is released after the chain dropped the deposit is neither spent nor owed to the wallet', async () => {
  const fork = fixture.chain.markFork()
  const deposited = await deposit()
  const spent = debit(deposited, 1n, 10n)
  const held = debit(deposited, 2n, 100n)
  const spending = await mustAppend(ledger, spent.change)
  const holding = await mustAppend(ledger, held.change)
  await mustAppend(ledger, fulfilmentOf(spent.settlement, { before: spending.after, attemptId: spent.attemptId }))
  fixture.chain.dropFork(fork)
  await reverseAll()
  expect(await stateOf(environment, deposited.settlement.reference)).toMatchObject({ phase: 'reversed' })
  await mustAppend(ledger, releaseOf(held.settlement, { before: holding.after, attemptId: held.attemptId }))
  expect(await ledger.payments.append(debit(deposited, 3n, 50n).change)).toMatchObject({ outcome: 'refused' })
  await ledger.tabs.close(deposited.tab, 'end', clock.nowMs())
  const after = await balances(environment)
  // The answer that was sold is the whole loss.
  expect(after['Expenses:ReversedPayments']).toBe(10n)
  const isOfTab = (name: string) => /^Liabilities:(?:Unearned|Prepaid|RefundsDue)/.test(name)
  expect(Object.keys(after).filter(isOfTab)).toEqual([])
})

test('a tab that is closed before its deposit is final owes the rest with its finality, and nothing if the chain drops it', async () => {
  const before = await balances(environment)
  const fork = fixture.chain.markFork()
  const dropped = await deposit()
  expect(await ledger.tabs.close(dropped.tab, 'wallet', clock.nowMs())).toMatchObject({
    restBaseUnits: requiredBaseUnits,
  })
  fixture.chain.dropFork(fork)
  await reverseAll()
  await ledger.tabs.close(dropped.tab, 'end', clock.nowMs())
  expect(await balances(environment)).toEqual(before)

  const stands = await deposit()
  await ledger.tabs.close(stands.tab, 'wallet', clock.nowMs())
  expect(await balances(environment)).toMatchObject({ [`Liabilities:Prepaid:${stands.tab}`]: -requiredBaseUnits })
  fixture.chain.advanceSlots(32)
  await finalityRound(environment, memory)
  expect(await ledger.tabs.close(stands.tab, 'end', clock.nowMs())).toMatchObject({ restBaseUnits: requiredBaseUnits })
  expect(await balances(environment)).toMatchObject({
    [`Liabilities:RefundsDue:${stands.settlement.wallet}`]: -requiredBaseUnits,
  })
})

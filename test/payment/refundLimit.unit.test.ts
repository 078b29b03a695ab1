import { expect, test } from 'vitest'
import { tabIdOf } from '@tollbook/core/tab'
import { decideApproval, decideGrant, noRefund } from '../../src/payment/refundDecision.ts'
import { mint, order, referenceNumber, settlementOf, wallet } from './paymentStory.ts'

// 1,000 base units are a millionth of a dollar, and a fraction of one counts as nothing.
const value = { priceMicroUsd: 5_000n, requiredBaseUnits: 5_000_000n }
const limits = { support: 2_000n, finance: 10_000n }

function approve(baseUnits: bigint, role: 'support' | 'finance', { isQuoted = true } = {}) {
  const debts = [{ account: `Liabilities:RefundsDue:${wallet}`, baseUnits }]
  const decider = { by: 'mira', login: role, role, reason: 'the customer asked' }
  return decideApproval({
    payment: referenceNumber(1),
    wallet,
    mint,
    debts,
    decider,
    limits,
    value: isQuoted ? value : undefined,
  })
}

test.each([
  ['support', 2_000_999n, 2_001_000n],
  ['finance', 10_000_999n, 10_001_000n],
] as const)('the limit of %s ends with the last base unit whose value is the limit', (role, most, more) => {
  expect(approve(most, role)).toMatchObject({ step: 'refund.approve' })
  expect(approve(more, role)).toContain(`the limit of the role ${role}`)
})

test('tokens that were never quoted are approved by finance only', () => {
  expect(approve(1n, 'finance', { isQuoted: false })).toMatchObject({ step: 'refund.approve' })
  expect(approve(1n, 'support', { isQuoted: false })).toContain('by finance only')
})

test.each([
  ['no name', { by: '' }, 'name of the decider'],
  ['a name of 101 characters', { by: 'm'.repeat(101) }, 'name of the decider'],
  ['a name with a control character', { by: 'mira\u0000' }, 'printable'],
  ['a name with half a character', { by: 'mira\ud83d' }, 'printable'],
  ['a blank reason', { reason: '  ' }, 'the reason must have'],
  ['a reason of 501 characters', { reason: 'r'.repeat(501) }, 'the reason must have'],
  ['a reason with a control character', { reason: 'asked\u0007' }, 'printable'],
] as const)('a decision with %s is refused', (_what, changes, why) => {
  const debts = [{ account: `Liabilities:RefundsDue:${wallet}`, baseUnits: 1n }]
  const decider = { by: 'mira', login: 'finance', role: 'finance', reason: 'r'.repeat(500), ...changes } as const
  const question = { payment: referenceNumber(1), wallet, mint, limits, value, decider }
  expect(decideApproval({ ...question, debts })).toContain(why)
  expect(decideApproval({ ...question, debts: [] })).toBe('no debt of this payment waits for an approval')
})

test('a delivered answer is refunded by hand only while it is final, once, and by at most its price', () => {
  const payment = referenceNumber(1)
  const settlement = settlementOf(payment)
  const { requiredBaseUnits } = settlement.price
  const grant = (amountBaseUnits?: bigint, { isFinal = true, before = noRefund, ofTab = {} } = {}) =>
    decideGrant({
      payment,
      before,
      amountBaseUnits,
      limits: { support: 0n, finance: 10_000n },
      decider: { by: 'mira', login: 'mira', role: 'finance', reason: 'the answer was wrong' },
      state: { phase: 'fulfilled', version: 5, settlement, attempt: 1, endpoint: order.endpoint, isFinal, ...ofTab },
    })
  expect(grant(requiredBaseUnits)).toMatchObject({ step: 'refund.grant' })
  expect(grant(requiredBaseUnits + 1n)).toContain('at most the price')
  expect(grant(0n)).toContain('more than 0')
  expect(grant(1n, { isFinal: false })).toContain('could still drop')
  expect(grant(1n, { before: { version: 1, phase: 'granted' } })).toContain('already')
  expect(grant()).toMatchObject({ event: { amountBaseUnits: requiredBaseUnits } })
  const ofTab = { tab: tabIdOf(new Uint8Array(64)) }
  expect(grant(undefined, { ofTab }), 'the tab owes its rest too').toContain('is a deposit')
  expect(grant(1n, { ofTab })).toMatchObject({ event: { amountBaseUnits: 1n } })
})

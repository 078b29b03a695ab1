import { expect, test } from 'vitest'
import { decideApproval } from '../../src/payment/refundDecision.ts'
import { mint, referenceNumber, wallet } from './paymentStory.ts'

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

import { expect, test } from 'vitest'
import { refuse, refuseProof } from '@tollbook/core/refusal'
import { mayPayAgain } from '../../src/payment/newPayment.ts'
import type { PaymentState } from '../../src/payment/payment.ts'
import { judgeEarlierUse } from '../../src/payment/paymentUse.ts'
import { order, referenceNumber, settlementOf } from './paymentStory.ts'

const nowMs = 1_790_000_000_000
const settlement = settlementOf(referenceNumber(1))
const { wallet } = settlement
const { endpoint } = order
const verified = { version: 3, settlement, attempt: 1, endpoint, isFinal: false }
const submitted: PaymentState = { phase: 'submitted', version: 1, wallet, endpoint, transactionBase64: 'AA==' }
const claimedUntil = (leaseUntilMs: number): PaymentState => {
  return { ...verified, phase: 'claimed', attemptId: 'attempt', leaseMs: 60_000, leaseUntilMs }
}
const stored = {
  attemptId: 'attempt_1',
  answerJson: '{}',
  position: 9,
  leafHash: 'ab',
  recordedAtMs: nowMs,
  isSent: false,
}

test.each([
  ['sent a moment ago', submitted, 'in_progress'],
  ['claimed by a live attempt', claimedUntil(nowMs + 1), 'in_progress'],
  ['claimed by an attempt whose lease has ended', claimedUntil(nowMs), 'resumed'],
  // The lease is of a minute, and the clocks may differ by a minute.
  ['claimed a minute ahead of our clock', claimedUntil(nowMs + 120_000), 'in_progress'],
  ['claimed before the clock went back', claimedUntil(nowMs + 120_001), 'resumed'],
  ['released', { ...verified, phase: 'released' }, 'resumed'],
  ['delivered and sent', { ...verified, phase: 'fulfilled' }, 'over'],
  ['owed back', { ...verified, phase: 'refund_due' }, 'over'],
  ['dropped by the chain', { ...verified, phase: 'reversed' }, 'over'],
] as const)('for the next request of its order, a payment that is %s is %s', (_name, payment, purchase) => {
  expect(judgeEarlierUse({ payment, stored: undefined }, { ageMs: 0 }, nowMs)).toBe(purchase)
})

test('a payment whose request can no longer be running is resumed, and so is an answer that is not known to be sent', () => {
  expect(judgeEarlierUse({ payment: submitted, stored: undefined }, { ageMs: 12_000 }, nowMs)).toBe('resumed')
  const fulfilled: PaymentState = { ...verified, phase: 'fulfilled' }
  expect(judgeEarlierUse({ payment: fulfilled, stored }, { ageMs: 0 }, nowMs)).toBe('resumed')
  expect(judgeEarlierUse({ payment: fulfilled, stored: { ...stored, isSent: true } }, { ageMs: 0 }, nowMs)).toBe('over')
})

test.each([
  ['a payment that the ledger does not have', refuseProof('challenge_expired'), undefined, true],
  ['one that it has', refuseProof('secret_mismatch'), submitted, false],
  ['one that has bought its answer', refuseProof('already_used'), { ...verified, phase: 'fulfilled' }, false],
  ['one that failed on chain', refuseProof('transaction_failed'), submitted, true],
  ['one that failed for lack of tokens', refuse('INSUFFICIENT_BALANCE', 'it holds too few'), submitted, true],
  ['one that is not confirmed', refuse('PAYMENT_PENDING', 'not yet', 2), submitted, false],
  ['one that may still land', refuseProof('not_found'), undefined, false],
] as const)('the refusal of %s may carry an offer or not', (_name, refusal, payment, may) => {
  expect(mayPayAgain(refusal, payment)).toBe(may)
})

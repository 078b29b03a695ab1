import { isRefusal } from '@tollbook/core/refusal'
import { expect, test } from 'vitest'
import { claimedPayment, claimPayment } from '../../src/paywall/claim.ts'
import type { PaymentState } from '../../src/payment/payment.ts'
import type { AppendOutcome, KnownPayment, PaymentChange, PaymentLedger } from '../../src/payment/paymentLedger.ts'
import { order, referenceNumber, settlementOf } from '../payment/paymentStory.ts'
import { unusedLedger } from './unusedLedger.ts'

/* The port as a script: each append has the next outcome, each lookup the next state. */

const settlement = settlementOf(referenceNumber(1))
const nowMs = 1_790_000_000_000
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: () => Promise.resolve() }
const unknownPayment: PaymentState = { phase: 'unknown', version: 0 }
const { reference } = settlement
const unpaid: KnownPayment = { payment: unknownPayment, reference, earlier: undefined, stored: undefined }
const stored = { attemptId: 'attempt_1', answerJson: '{}', position: 9, leafHash: 'ab', recordedAtMs: nowMs }
const conflict: AppendOutcome = { outcome: 'conflict' }

function scriptedLedger(outcomes: readonly AppendOutcome[], lookUps: readonly KnownPayment[]) {
  const changes: PaymentChange[] = []
  let looked = 0
  const ledger: PaymentLedger = {
    ...unusedLedger,
    append(change) {
      changes.push(change)
      return Promise.resolve(outcomes[changes.length - 1] ?? conflict)
    },
    lookUp: () => Promise.resolve(lookUps[looked++] ?? unpaid),
  }
  const claim = () =>
    claimPayment(
      { clock, ledger, leaseMs: 60_000, attemptsMax: 10 },
      { order, settlement, payment: unknownPayment, idempotencyKey: 'key' },
    )
  return { claim, changes, looked: () => looked }
}

test.each([
  ['its answer is stored and not yet sent', { ...unpaid, stored: { ...stored, isSent: false } }],
  [
    'its answer is stored under the key',
    { ...unpaid, earlier: { reference: settlement.reference, orderDigest: order.digest, answer: stored } },
  ],
])('a claim that another request won is not decided again when %s', async (_, known) => {
  const { claim, changes } = scriptedLedger([conflict], [known])
  expect(await claim()).toMatchObject({ code: 'PAYMENT_IN_PROGRESS', retryAfterSeconds: 1 })
  expect(changes).toHaveLength(1)
})

test('a claim that lost to another state is decided on that state', async () => {
  const { claim, changes } = scriptedLedger(
    [conflict, { outcome: 'appended', after: unknownPayment, recordedAtMs: nowMs, leaves: [] }],
    [unpaid],
  )
  expect(isRefusal(await claim())).toBe(false)
  expect(changes).toHaveLength(2)
  expect(changes[0]?.idempotency).toEqual({ wallet: order.wallet, key: 'key', orderDigest: order.digest })
})

test('a payment that changes with each of four tries is a fault, and never an unpaid request (I8)', async () => {
  const { claim, changes, looked } = scriptedLedger([], [])
  await expect(claim()).rejects.toMatchObject({ retryable: true })
  expect([changes.length, looked()]).toEqual([4, 4])
})

test('a key of another request is refused without another try', async () => {
  const { claim, changes } = scriptedLedger([{ outcome: 'idempotency_key_reused' }], [])
  expect(await claim()).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
  expect(changes).toHaveLength(1)
})

test.each([
  [1, true],
  [2, false],
])('attempt %i with a payment earns its caller something: %s', (attempt, isFirst) => {
  const claim = { version: 3, settlement, endpoint: order.endpoint, isFinal: false, leaseMs: 1 }
  const payment = { ...claim, phase: 'claimed', attempt, attemptId: 'a', leaseUntilMs: nowMs } as const
  const claimed = claimedPayment({ order, settlement, payment })
  const { priceMicroUsd } = settlement.price
  expect(claimed).toEqual({ payer: order.wallet, priceMicroUsd, isFirst, isQuoted: true })
  const unquoted = { ...settlement, quoteId: undefined }
  expect(claimedPayment({ order, settlement: unquoted, payment }).isQuoted).toBe(false)
})

test('a debit earns its caller nothing by its hold, because a failed request returns the hold', () => {
  const keys = { signed: undefined, bearerHash: 'ab'.repeat(32), orderDigest: order.digest }
  const debit = { tab: '4uQeVj5tqViQh7yWWGStvk', number: 1n, deposit: reference, lifecycle: 0, ...keys }
  const claim = { order, settlement: { ...settlement, debit }, payment: unknownPayment }
  expect(claimedPayment(claim).priceMicroUsd).toBe(0n)
})

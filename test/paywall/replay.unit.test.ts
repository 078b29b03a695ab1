import { expect, test } from 'vitest'
import { isRefusal, refuseProof } from '@tollbook/core/refusal'
import { findReplay, readIdempotencyKey, settledBefore } from '../../src/paywall/replay.ts'
import type { PaymentState } from '../../src/payment/payment.ts'
import type { KnownPayment } from '../../src/payment/paymentLedger.ts'
import { order, otherWallet, referenceNumber, settlementOf } from '../payment/paymentStory.ts'
import { requestOf } from './requestOf.ts'
import { scriptedRail } from './scriptedRail.ts'

const settlement = settlementOf(referenceNumber(1))
const { reference } = settlement
const { endpoint } = order
const debit = { tab: '', number: 1n, deposit: reference, signed: undefined, bearerHash: 'ab', lifecycle: 0 }
const debitSettlement = { ...settlement, debit: { ...debit, orderDigest: order.digest } }
const fulfilled = { phase: 'fulfilled', version: 5, settlement, endpoint, isFinal: false, attempt: 1 } as const
const answer = { attemptId: 'attempt_1', answerJson: '{}', position: 9, leafHash: 'ab', recordedAtMs: 7 }
const earlier = { reference, orderDigest: order.digest, answer }
const none: KnownPayment = { payment: fulfilled, reference, earlier: undefined, stored: undefined }
const rail = scriptedRail('toll')

const replayed = (known: Partial<KnownPayment>, by = rail) => {
  const found = findReplay({ ...none, ...known }, { rail: by, proof: { reference }, order })
  return isRefusal(found) ? (found.reason ?? found.code) : found?.fulfilment
}
const delivery = { attemptId: 'attempt_1', position: 9, leafHash: 'ab', recordedAtMs: 7 }

test('an answer that was not sent, or is under the key, is sent again with the facts of its delivery', () => {
  expect(replayed({})).toBeUndefined()
  const sale = { ...delivery, settlement, endpoint }
  expect(replayed({ stored: { ...answer, isSent: false } })).toMatchObject(sale)
  expect(replayed({ earlier })).toEqual(sale)
  expect(replayed({ earlier, stored: { ...answer, isSent: true } })).toEqual(sale)
})

test('an answer that was sent is available without a key only to the holder of a secret', () => {
  const stored = { ...answer, isSent: true }
  expect(replayed({ stored })).toBeUndefined()
  const bound: PaymentState = { ...fulfilled, settlement: { ...settlement, memo: 'tollbook:x' } }
  expect(replayed({ stored, payment: bound })).toMatchObject(delivery)
  const strict = { ...rail, checkHolder: () => refuseProof('secret_mismatch') }
  expect(replayed({ stored, payment: bound }, strict)).toBe('secret_mismatch')
})

test('an answer under the key is not sent for a payment that was read before its delivery, when a debit still had its hold', () => {
  for (const phase of ['claimed', 'streaming'] as const) {
    const lease = { attemptId: 'attempt_1', leaseMs: 1, leaseUntilMs: 1 }
    expect(replayed({ earlier, payment: { ...fulfilled, phase, ...lease } })).toBeUndefined()
  }
  expect(replayed({ earlier, payment: { ...fulfilled, phase: 'released' } })).toBeUndefined()
  expect(replayed({ earlier, payment: { ...fulfilled, phase: 'reversed' } })).toMatchObject(delivery)
})

test('a key of another order or of another payment is refused, also while its first request runs', () => {
  expect(replayed({ earlier: { ...earlier, orderDigest: 'cd' } })).toBe('IDEMPOTENCY_KEY_REUSED')
  expect(replayed({ earlier: { ...earlier, reference: referenceNumber(2) } })).toBe('IDEMPOTENCY_KEY_REUSED')
  expect(replayed({ earlier: { ...earlier, answer: undefined } })).toBeUndefined()
})

test('an answer that another wallet has paid is not sent', () => {
  const payment: PaymentState = { ...fulfilled, settlement: { ...settlement, wallet: otherWallet } }
  expect(replayed({ payment, stored: { ...answer, isSent: false } })).toBeUndefined()
})

test.each([
  ['unknown', { phase: 'unknown', version: 0 }],
  ['submitted', { phase: 'submitted', version: 1, wallet: otherWallet, endpoint: 'x', transactionBase64: '' }],
] as const)('a payment that is only %s is not settled by the ledger', (_, payment) => {
  expect(settledBefore({ known: { ...none, payment }, proof: { reference }, order }, rail)).toBeUndefined()
})

test('a verified payment is settled by the ledger for its holder, and one that was resumed by what its rail found', () => {
  const found = { known: none, proof: { reference }, order }
  expect(settledBefore(found, rail)).toEqual({ verdict: settlement, payment: fulfilled })
  const refused = refuseProof('secret_mismatch')
  expect(settledBefore(found, { ...rail, checkHolder: () => refused })?.verdict).toBe(refused)
  const resumed = settlementOf(referenceNumber(2))
  expect(settledBefore({ ...found, settlement: resumed }, rail)?.verdict).toBe(resumed)
})

test('a debit that is tried again is settled by its rail, at the price and the limits of now', () => {
  const released = { ...fulfilled, phase: 'released' } as const
  const found = (payment: PaymentState) => ({ known: { ...none, payment }, proof: { reference }, order })
  expect(settledBefore(found(released), rail)?.verdict).toBe(settlement)
  expect(settledBefore(found({ ...released, settlement: debitSettlement }), rail)).toBeUndefined()
})

test('the header has priority over the key of the rail, and a key is visible ASCII of at most 255 characters', () => {
  const railWithKey = { ...rail, idempotencyKey: () => 'of the rail' }
  const keyOf = (key: string | undefined, by?: typeof rail) => {
    const headers = key === undefined ? {} : { 'idempotency-key': key }
    const rest = { requestId: '', readParameters: () => Promise.reject(new Error('not read here')) }
    const limits = { limitQuotes: () => undefined, limitLookups: () => undefined, onClaimed: () => undefined }
    const read = readIdempotencyKey({ ...requestOf({ headers }), ...rest, ...limits }, by)
    return isRefusal(read) ? read.details : read
  }
  expect(keyOf('of-the-header', railWithKey)).toBe('of-the-header')
  expect(keyOf(undefined, railWithKey)).toBe('of the rail')
  expect(keyOf(undefined)).toBeUndefined()
  expect(keyOf('x'.repeat(255))).toHaveLength(255)
  for (const wrong of ['x'.repeat(256), 'a b', 'é'])
    expect(keyOf(wrong)).toMatchObject([
      { field: 'idempotency-key', message: expect.stringContaining(`got ${wrong.length}`) },
    ])
})

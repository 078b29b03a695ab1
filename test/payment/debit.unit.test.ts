import { describe, expect, test } from 'vitest'
import { tabIdOf } from '@tollbook/core/tab'
import { decideClaim } from '../../src/payment/attempt.ts'
import type { PaymentState } from '../../src/payment/payment.ts'
import {
  readReference,
  referenceOfStream,
  streamIdOf,
  tabRequestReference,
} from '../../src/payment/paymentReference.ts'
import { mayUse } from '../../src/payment/paymentUse.ts'
import type { DebitFacts } from '../../src/payment/settlement.ts'
import type { DebitSettlement } from '../../src/payment/tabSettlement.ts'
import { order, referenceNumber, settlementOf, wallet } from './paymentStory.ts'

const nowMs = 1_790_000_000_000
const tab = tabIdOf(new Uint8Array(16).fill(1))
const signed: DebitFacts['signed'] = {
  sessionKey: wallet,
  maxBaseUnits: 5_000_000n,
  validUntilMs: nowMs,
  requestDigest: order.digest,
  signature: 'AA',
}

function debited(change: Partial<DebitFacts> = {}): DebitSettlement {
  const facts = { tab, number: 1n, deposit: referenceNumber(1), signed, bearerHash: undefined, lifecycle: 0 }
  const debit = { ...facts, orderDigest: order.digest, ...change }
  return { ...settlementOf(tabRequestReference(tab, 1n), { burnedBaseUnits: 0n, priceList: 1 }), debit }
}

function released(settlement: DebitSettlement, attempt = 1): PaymentState {
  return { phase: 'released', version: 2, settlement, endpoint: order.endpoint, attempt, isFinal: false }
}

describe('a debit whose attempt failed', () => {
  test('is tried again until its signature ends, and not after', () => {
    expect(mayUse(released(debited()), order, nowMs)).toBeUndefined()
    expect(mayUse(released(debited()), order, nowMs + 1)).toMatchObject({ reason: 'tab_debit_expired' })
    const ofBearer = debited({ signed: undefined, bearerHash: 'ab' })
    expect(mayUse(released(ofBearer), order, nowMs + 1)).toBeUndefined()
  })

  test('stays with its order', () => {
    expect(mayUse(released(debited()), { ...order, digest: 'ef'.repeat(32) }, nowMs)).toMatchObject({
      code: 'TAB_NUMBER_USED',
    })
  })

  test('has as many attempts with its number as a payment, and no more', () => {
    const settlement = debited()
    const command = { order, settlement, attemptId: 'attempt', leaseMs: 60_000, attemptsMax: 3, nowMs }
    expect(decideClaim(released(settlement, 2), command)).toMatchObject({
      events: [{ kind: 'TabDebited', attempt: 3 }],
    })
    expect(decideClaim(released(settlement, 3), command)).toMatchObject({ reason: 'tab_number_exhausted' })
  })
})

test('a debit that was delivered is used, and not expired, when its signature ends', () => {
  const delivered = { settlement: debited(), endpoint: order.endpoint, attempt: 1, isFinal: false }
  const fulfilled: PaymentState = { phase: 'fulfilled', version: 3, ...delivered }
  expect(mayUse(fulfilled, order, nowMs + 1)).toMatchObject({ reason: 'already_used' })
})

test('the number of a debit has 64 bits, is spelled in one way, and is its id', () => {
  const most = 2n ** 64n - 1n
  const reference = readReference(`tab:${tab}:${most}`)
  expect(reference).toBe(tabRequestReference(tab, most))
  expect(reference && referenceOfStream(streamIdOf(reference))).toBe(reference)
  for (const number of [`${most + 1n}`, '0', '01', '-1', '1.0', ''])
    expect(readReference(`tab:${tab}:${number}`), number).toBeUndefined()
  expect(() => tabRequestReference(tab, most + 1n)).toThrow('64 bits')
})

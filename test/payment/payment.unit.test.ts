import { describe, expect, test } from 'vitest'
import { assert, Bug } from '@tollbook/core/assert'
import type { PaymentEvent } from '../../src/payment/events.ts'
import { decideExpiry, decideFinality } from '../../src/payment/finality.ts'
import { decideBreak, decideClaim, decideFulfil, decideRelease, decideStart } from '../../src/payment/attempt.ts'
import { evolve, type PaymentState, unknownPayment } from '../../src/payment/payment.ts'
import { mayUse } from '../../src/payment/paymentUse.ts'
import { isRefusal } from '@tollbook/core/refusal'
import { order, otherWallet, settlementOf, referenceNumber, wallet } from './paymentStory.ts'

const nowMs = 1_790_000_100_000
const leaseMs = 60_000
const attemptsMax = 10
const settlement = settlementOf(referenceNumber(1))
const claimBy = (attemptId: string, changes = {}) => ({
  order,
  settlement,
  attemptId,
  leaseMs,
  attemptsMax,
  nowMs,
  ...changes,
})

/** Folds events as the ledger would record them at `atMs`. */
function after(events: readonly PaymentEvent[], before: PaymentState = unknownPayment, atMs = nowMs): PaymentState {
  return events.reduce((state, event) => evolve(state, event, atMs), before)
}

function claimed(attemptId = 'attempt_1', before: PaymentState = unknownPayment, atMs = nowMs): PaymentState {
  const decision = decideClaim(before, claimBy(attemptId, { nowMs: atMs }))
  assert(!isRefusal(decision), 'the claim of the story is granted')
  return after(decision.events, before, atMs)
}

function released(): PaymentState {
  const state = claimed()
  return after(decideRelease(state, { attemptId: 'attempt_1', reason: 'no_data', attemptsMax })?.events ?? [], state)
}

function fulfilled(): PaymentState {
  const state = claimed()
  return after(
    decideFulfil(state, { attemptId: 'attempt_1', orderDigest: order.digest, answerDigest: 'cd' })?.events ?? [],
    state,
  )
}

describe('a payment that was never presented', () => {
  test('is verified, burned and claimed in one step', () => {
    const decision = decideClaim(unknownPayment, claimBy('attempt_1'))
    assert(!isRefusal(decision), 'a first claim is granted')
    const { events } = decision
    expect(events.map(({ kind }) => kind)).toEqual(['PaymentVerified', 'TokensBurned', 'ProofClaimed'])
    expect(after(events)).toMatchObject({ phase: 'claimed', version: 3, attempt: 1, leaseUntilMs: nowMs + leaseMs })
  })

  test('burned nothing if its price was sent whole', () => {
    const { price } = settlement
    const whole = settlementOf(referenceNumber(1), { burnedBaseUnits: 0n, receivedBaseUnits: price.requiredBaseUnits })
    const decision = decideClaim(unknownPayment, claimBy('attempt_1', { settlement: whole }))
    assert(!isRefusal(decision), 'a first claim is granted')
    expect(decision.events.map(({ kind }) => kind)).toEqual(['PaymentVerified', 'ProofClaimed'])
  })

  test('I6 the claim carries wallet, endpoint, order digest and price', () => {
    const decision = decideClaim(unknownPayment, claimBy('attempt_1'))
    assert(!isRefusal(decision), 'a first claim is granted')
    const { events } = decision
    expect(events[0]).toEqual({ kind: 'PaymentVerified', settlement })
    expect(events[2]).toMatchObject({ wallet, endpoint: order.endpoint, orderDigest: order.digest, attempt: 1 })
  })

  test('that was submitted by us goes on from there', () => {
    const submitted = after([
      { kind: 'PaymentSubmitted', wallet, endpoint: order.endpoint, quoteId: undefined, transactionBase64: 'AQ==' },
    ])
    expect(submitted).toMatchObject({ phase: 'submitted', version: 1 })
    expect(claimed('attempt_1', submitted)).toMatchObject({ phase: 'claimed', version: 4, attempt: 1 })
    expect(mayUse(submitted, { ...order, wallet: otherWallet }, nowMs)).toMatchObject({ reason: 'other_wallet' })
  })
})

describe('a claimed payment', () => {
  test('I3 cannot be claimed by a second attempt while the first one is live', () => {
    const second = decideClaim(claimed(), claimBy('attempt_2'))
    expect(second).toMatchObject({ code: 'PAYMENT_IN_PROGRESS', retryAfterSeconds: 5 })
  })

  test('I3 is taken over when its lease has ended, and the dead attempt is put on record as failed', () => {
    const events = decideClaim(claimed(), claimBy('attempt_2', { nowMs: nowMs + leaseMs }))
    expect(events).toMatchObject({
      step: 'payment.claim',
      events: [
        { kind: 'RequestFailed', attempt: 1, attemptId: 'attempt_1', reason: 'lease_expired' },
        { kind: 'ProofClaimed', attempt: 2, attemptId: 'attempt_2' },
      ],
    })
  })

  test('I3 a lease is live to its last millisecond', () => {
    expect(decideClaim(claimed(), claimBy('attempt_2', { nowMs: nowMs + leaseMs - 1 }))).toMatchObject({
      code: 'PAYMENT_IN_PROGRESS',
      retryAfterSeconds: 1,
    })
  })

  test('I3 only the latest attempt may fulfil', () => {
    const takenOver = claimed('attempt_2', claimed(), nowMs + leaseMs)
    const command = { orderDigest: order.digest, answerDigest: 'cd' }
    expect(decideFulfil(takenOver, { attemptId: 'attempt_1', ...command })).toBeUndefined()
    expect(decideFulfil(takenOver, { attemptId: 'attempt_2', ...command })).toMatchObject({
      step: 'payment.fulfil',
      events: [{ kind: 'RequestFulfilled', attempt: 2 }, { kind: 'DistributionAllocated' }],
    })
  })

  test('is fulfilled with the distribution of its own price', () => {
    const fulfil = decideFulfil(claimed(), { attemptId: 'attempt_1', orderDigest: order.digest, answerDigest: 'cd' })
    expect(fulfil?.events[1]).toEqual({
      kind: 'DistributionAllocated',
      mint: settlement.price.mint,
      parts: [
        { account: 'provider', baseUnits: 2_500_000n },
        { account: 'holders', baseUnits: 750_000n },
        { account: 'treasury', baseUnits: 250_000n },
      ],
    })
  })

  test('an attempt that was overtaken releases nothing', () => {
    expect(
      decideRelease(claimed('attempt_2', claimed(), nowMs + leaseMs), {
        attemptId: 'attempt_1',
        reason: 'no_data',
        attemptsMax,
      }),
    ).toBeUndefined()
  })
})

describe('a streamed answer', () => {
  const streaming = () => {
    const state = claimed()
    return after(decideStart(state, 'attempt_1')?.events ?? [], state, nowMs + 1_000)
  }

  test('starts once, by the attempt that has the payment, and renews the lease', () => {
    expect(streaming()).toMatchObject({ phase: 'streaming', version: 4, leaseUntilMs: nowMs + 1_000 + leaseMs })
    expect(decideStart(streaming(), 'attempt_1')).toBeUndefined()
    expect(decideStart(claimed(), 'attempt_2')).toBeUndefined()
  })

  test('is fulfilled as any other, with the digest of the whole', () => {
    const fulfil = decideFulfil(streaming(), { attemptId: 'attempt_1', orderDigest: order.digest, answerDigest: 'cd' })
    expect(fulfil).toMatchObject({
      step: 'payment.fulfil',
      events: [{ answerDigest: 'cd' }, { kind: 'DistributionAllocated' }],
    })
  })

  test('I4 that breaks leaves the proof usable, and what was sent on record', () => {
    const broken = decideBreak(streaming(), { attemptId: 'attempt_1', bytes: 12, digest: 'ef', attemptsMax })
    expect(broken?.events).toMatchObject([{ kind: 'AnswerBroken', attempt: 1, bytes: 12, digest: 'ef' }])
    expect(after(broken?.events ?? [], streaming())).toMatchObject({ phase: 'released', attempt: 1 })
    expect(decideBreak(claimed(), { attemptId: 'attempt_1', bytes: 0, digest: '', attemptsMax })).toBeUndefined()
    expect(decideRelease(streaming(), { attemptId: 'attempt_1', reason: 'no_data', attemptsMax })).toBeUndefined()
  })
})

describe('a released payment', () => {
  test('I4 can be claimed again by the same wallet for the same endpoint, with other parameters', () => {
    const events = decideClaim(released(), claimBy('attempt_2', { order: { ...order, digest: 'ef'.repeat(32) } }))
    expect(events).toMatchObject({ events: [{ kind: 'ProofClaimed', attempt: 2, orderDigest: 'ef'.repeat(32) }] })
  })

  test('I6 stays bound to its wallet and endpoint', () => {
    expect(decideClaim(released(), claimBy('attempt_2', { order: { ...order, wallet: otherWallet } }))).toMatchObject({
      reason: 'other_wallet',
    })
    // One of another length, and one that differs in a letter.
    for (const endpoint of ['/api/tools/pdf', order.endpoint.replace('q', 'Q')]) {
      expect(decideClaim(released(), claimBy('attempt_2', { order: { ...order, endpoint } }))).toMatchObject({
        reason: 'other_endpoint',
      })
    }
  })
})

describe('a fulfilled payment', () => {
  test('I1 buys nothing again, from any wallet and at any endpoint', () => {
    expect(decideClaim(fulfilled(), claimBy('attempt_2'))).toMatchObject({
      code: 'INVALID_PAYMENT',
      reason: 'already_used',
    })
    expect(mayUse(fulfilled(), { ...order, endpoint: '/api/tools/pdf' }, nowMs)).toMatchObject({
      reason: 'already_used',
    })
    expect(mayUse(fulfilled(), { ...order, wallet: otherWallet }, nowMs)).toMatchObject({ reason: 'other_wallet' })
  })

  test('I1 is neither fulfilled nor released a second time', () => {
    expect(decideFulfil(fulfilled(), { attemptId: 'attempt_1', orderDigest: '', answerDigest: '' })).toBeUndefined()
    expect(decideRelease(fulfilled(), { attemptId: 'attempt_1', reason: 'no_data', attemptsMax })).toBeUndefined()
  })
})

test('an event that cannot happen in a state is a bug and not a state', () => {
  const { mint } = settlement.price
  const failed = {
    kind: 'RequestFailed',
    attempt: 1,
    attemptId: 'a',
    reason: 'no_data',
    mint,
    exposedBaseUnits: 0n,
  } as const
  expect(() => after([failed])).toThrow(Bug)
})

describe('the last permitted attempt', () => {
  const one = { attemptsMax: 1 }
  const failed = { attemptId: 'attempt_1', reason: 'no_data', ...one } as const
  const exhausted = () => after(decideRelease(claimed(), failed)?.events ?? [], claimed())
  const finalized = { kind: 'finalized', slot: 7 } as const

  test('ends the payment when it fails, and no attempt follows', () => {
    expect(decideRelease(claimed(), failed)?.step).toBe('payment.exhaust')
    expect(exhausted()).toMatchObject({ phase: 'exhausted', version: 5, attempt: 1 })
    expect(decideClaim(exhausted(), claimBy('attempt_2', one))).toMatchObject({ reason: 'attempts_exhausted' })
    expect(decideClaim(exhausted(), claimBy('attempt_2'))).toMatchObject({ reason: 'attempts_exhausted' })
  })

  test('owes the payment back with its finality, or at once when it is final', () => {
    expect(decideFinality(exhausted(), finalized)?.events.map(({ kind }) => kind)).toEqual([
      'PaymentFinalized',
      'RefundDue',
    ])
    const final = after(decideFinality(released(), finalized)?.events ?? [], released())
    const again = claimed('attempt_2', final)
    const decision = decideRelease(again, { attemptId: 'attempt_2', reason: 'no_data', attemptsMax: 2 })
    expect(decision?.events.map(({ kind }) => kind)).toEqual(['RequestFailed', 'AttemptsExhausted', 'RefundDue'])
    expect(after(decision?.events ?? [], again)).toMatchObject({ phase: 'refund_due' })
  })

  test('is not taken over when its lease has ended, but ended by the job', () => {
    const late = nowMs + leaseMs
    expect(decideClaim(claimed(), claimBy('attempt_2', { nowMs: late, ...one }))).toMatchObject({
      code: 'PAYMENT_IN_PROGRESS',
    })
    expect(decideExpiry(claimed(), { nowMs: late, ...one })?.events).toHaveLength(2)
  })

  test('may still deliver, and a delivered payment is never owed back', () => {
    const fulfil = { attemptId: 'attempt_1', orderDigest: order.digest, answerDigest: 'cd' }
    const delivered = after(decideFulfil(claimed(), fulfil)?.events ?? [], claimed())
    expect(delivered).toMatchObject({ phase: 'fulfilled' })
    expect(decideRelease(delivered, failed)).toBeUndefined()
    expect(decideFinality(delivered, finalized)?.events.map(({ kind }) => kind)).toEqual(['PaymentFinalized'])
  })
})

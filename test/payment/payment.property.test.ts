import fc from 'fast-check'
import { expect, test } from 'vitest'
import { paymentCodec, type PaymentEvent } from '../../src/payment/events.ts'
import { balancesOf } from './balances.ts'
import { decideExpiry, decideFinality, decideRefund } from '../../src/payment/finality.ts'
import { decideBreak, decideClaim, decideFulfil, decideRelease, decideStart } from '../../src/payment/attempt.ts'
import { evolve, type PaymentDecision, type PaymentState, unknownPayment } from '../../src/payment/payment.ts'
import { isRefusal, type Refusal } from '@tollbook/core/refusal'
import { order, settlementOf, referenceNumber } from './paymentStory.ts'

const leaseMs = 1_000
// So few that many histories exhaust them.
const attemptsMax = 3
const settlement = settlementOf(referenceNumber(1))
const step = fc.record({
  kind: fc.constantFrom('claim', 'start', 'break', 'fulfil', 'release', 'finalize', 'reverse', 'refund', 'expire'),
  attemptId: fc.constantFrom('a', 'b', 'c', 'd'),
  waitMs: fc.integer({ min: 0, max: 1_500 }),
})

/** Any number of processes, each acting in any order: which results does the ledger allow? */
function play(steps: readonly { kind: string; attemptId: string; waitMs: number }[]): readonly PaymentEvent[] {
  const recorded: PaymentEvent[] = []
  let state: PaymentState = unknownPayment
  let nowMs = 0
  for (const { kind, attemptId, waitMs } of steps) {
    nowMs += waitMs
    const events = decide(state, { kind, attemptId, nowMs })
    for (const event of events) {
      state = evolve(state, event, nowMs)
      recorded.push(event)
    }
  }
  return recorded
}

function decide(
  state: PaymentState,
  { kind, attemptId, nowMs }: { kind: string; attemptId: string; nowMs: number },
): readonly PaymentEvent[] {
  const decision = decisionOf(state, { kind, attemptId, nowMs })
  return decision === undefined || isRefusal(decision) ? [] : decision.events
}

function decisionOf(
  state: PaymentState,
  { kind, attemptId, nowMs }: { kind: string; attemptId: string; nowMs: number },
): PaymentDecision | Refusal | undefined {
  if (kind === 'start') return decideStart(state, attemptId)
  if (kind === 'break') return decideBreak(state, { attemptId, bytes: 1, digest: '', attemptsMax })
  if (kind === 'fulfil') return decideFulfil(state, { attemptId, orderDigest: order.digest, answerDigest: '' })
  if (kind === 'finalize') return decideFinality(state, { kind: 'finalized', slot: 1 })
  if (kind === 'reverse') return decideFinality(state, { kind: 'reversed', reason: 'absent', finalizedSlot: 1 })
  if (kind === 'refund') return decideRefund(state)
  if (kind === 'expire') return decideExpiry(state, { nowMs, attemptsMax })
  if (kind === 'release') return decideRelease(state, { attemptId, reason: 'no_data', attemptsMax })
  return decideClaim(state, { order, settlement, attemptId, leaseMs, attemptsMax, nowMs })
}

const histories = fc.array(step, { maxLength: 40 }).map(play)

test('I1 no history of claims, fulfilments and releases fulfils a payment twice', () => {
  fc.assert(
    fc.property(histories, (events) => {
      expect(events.filter(({ kind }) => kind === 'RequestFulfilled').length).toBeLessThanOrEqual(1)
      expect(events.filter(({ kind }) => kind === 'PaymentVerified').length).toBeLessThanOrEqual(1)
    }),
  )
})

test('I3 attempts are 1, 2, 3… and each one ends before the next begins', () => {
  fc.assert(
    fc.property(histories, (events) => {
      let live = 0
      let last = 0
      for (const event of events) {
        if (event.kind === 'ProofClaimed') {
          expect(live).toBe(0)
          expect(event.attempt).toBe(last + 1)
          last = live = event.attempt
        }
        if (event.kind === 'RequestFailed' || event.kind === 'AnswerBroken' || event.kind === 'RequestFulfilled') {
          expect(event.attempt).toBe(live)
          live = 0
        }
      }
    }),
  )
})

test('I3 attempts are bounded, and after the last failed one nothing but finality and the debt is recorded', () => {
  fc.assert(
    fc.property(histories, (events) => {
      const kinds = events.map(({ kind }) => kind)
      expect(kinds.filter((kind) => kind === 'ProofClaimed').length).toBeLessThanOrEqual(attemptsMax)
      const exhaustedAt = kinds.indexOf('AttemptsExhausted')
      if (exhaustedAt === -1) return
      const ends = [[], ['RefundDue'], ['PaymentFinalized', 'RefundDue'], ['PaymentReversed', 'BurnReversed']]
      expect(ends).toContainEqual(kinds.slice(exhaustedAt + 1))
    }),
  )
})

test('I2 nothing is fulfilled that was not claimed and verified before', () => {
  fc.assert(
    fc.property(histories, (events) => {
      const kinds = events.map(({ kind }) => kind)
      const fulfilledAt = kinds.indexOf('RequestFulfilled')
      if (fulfilledAt === -1) return
      expect(kinds.indexOf('PaymentVerified')).toBeLessThan(fulfilledAt)
      expect(kinds.indexOf('ProofClaimed')).toBeLessThan(fulfilledAt)
      expect(kinds[fulfilledAt + 1]).toBe('DistributionAllocated')
    }),
  )
})

test('a payment ends once: as final or dropped, and as delivered or owed back', () => {
  fc.assert(
    fc.property(histories, (events) => {
      const kinds = events.map(({ kind }) => kind)
      const count = (...some: readonly PaymentEvent['kind'][]) => kinds.filter((kind) => some.includes(kind)).length
      expect(count('PaymentFinalized', 'PaymentReversed')).toBeLessThanOrEqual(1)
      expect(count('RequestFulfilled', 'RefundDue')).toBeLessThanOrEqual(1)
      if (kinds.includes('RefundDue'))
        expect(kinds.indexOf('PaymentFinalized')).toBeLessThan(kinds.indexOf('RefundDue'))
      if (kinds.includes('RefundDue')) expect(kinds.at(-1)).toBe('RefundDue')
      if (kinds.includes('PaymentReversed')) expect(kinds.slice(-2)).toEqual(['PaymentReversed', 'BurnReversed'])
    }),
  )
})

test('whatever happens to it, a dropped payment leaves nothing behind but the loss of what was served', () => {
  fc.assert(
    fc.property(histories, (events) => {
      if (events.at(-1)?.kind !== 'BurnReversed') return
      const left = [...balancesOf(paymentCodec, events)]
        .filter(([, amount]) => amount !== 0n)
        .map(([account]) => account)
      const served = [
        'Expenses:ReversedPayments',
        'Liabilities:Share:holders',
        'Liabilities:Share:provider',
        'Liabilities:Share:treasury',
      ]
      expect(left.toSorted()).toEqual(events.some(({ kind }) => kind === 'RequestFulfilled') ? served : [])
    }),
  )
})

test('exposed is the price while an answer is, or was, served for a payment that the chain could still drop', () => {
  fc.assert(
    fc.property(histories, (events) => {
      const kinds = events.map(({ kind }) => kind)
      const state = events.reduce((before, event) => evolve(before, event, 0), unknownPayment)
      const isServed = state.phase === 'claimed' || state.phase === 'streaming' || state.phase === 'fulfilled'
      const isExposed = isServed && !kinds.includes('PaymentFinalized')
      const exposed = balancesOf(paymentCodec, events).get('Memo:Exposed') ?? 0n
      expect(exposed).toBe(isExposed ? settlement.price.requiredBaseUnits : 0n)
    }),
  )
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PaymentEvent } from '../../src/payment/events.ts'
import {
  decideClaim,
  decideFulfil,
  decideRelease,
  evolve,
  type PaymentState,
  unknownPayment,
} from '../../src/payment/payment.ts'
import { isRefusal } from '../../src/payment/refusal.ts'
import { order, settlementOf, signatureNumber } from './paymentStory.ts'

const leaseMs = 1_000
const settlement = settlementOf(signatureNumber(1))
const step = fc.record({
  kind: fc.constantFrom('claim', 'fulfil', 'release'),
  attemptId: fc.constantFrom('a', 'b', 'c', 'd'),
  waitMs: fc.integer({ min: 0, max: 1_500 }),
})

/** Any number of processes, each doing what it likes in any order: what does the book allow? */
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
  if (kind === 'fulfil') return decideFulfil(state, { attemptId, orderDigest: order.digest, answerDigest: '' }) ?? []
  if (kind === 'release') return decideRelease(state, attemptId, 'no_data') ?? []
  const events = decideClaim(state, { order, settlement, attemptId, leaseMs, nowMs })
  return isRefusal(events) ? [] : events
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
        if (event.kind === 'RequestFailed' || event.kind === 'RequestFulfilled') {
          expect(event.attempt).toBe(live)
          live = 0
        }
      }
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
      expect(kinds.at(-1)).toBe('DistributionAllocated')
    }),
  )
})

import { expect, test } from 'vitest'
import { silentLog } from '../../src/machine/log.ts'
import { recordRefunds } from '../../src/jobs/refundJob.ts'
import type { LifecycleStep } from '../../src/jobs/recordStep.ts'
import type { PaymentState } from '../../src/payment/payment.ts'
import type { OpenQuestion } from '../../src/payment/paymentLifecycle.ts'
import type { PaymentReference } from '../../src/payment/paymentReference.ts'
import { referenceNumber, settlementOf } from '../payment/paymentStory.ts'
import { heldClock, lifecycleWith } from './jobFixture.ts'

const limits = { attemptsMax: 10, refundAfterMs: 1 }

function verified(reference: PaymentReference) {
  const settlement = settlementOf(reference)
  return { version: 3, settlement, attempt: 1, endpoint: settlement.price.endpoint, isFinal: true }
}

const claimed = (reference: PaymentReference): PaymentState => {
  const attempt = { attemptId: 'attempt_1', leaseMs: 1_000, leaseUntilMs: heldClock.nowMs() - 1 }
  return { ...verified(reference), phase: 'claimed', ...attempt }
}

/** Claims come first by number, then undelivered payments. Like the table of open work, the list changes only later. */
function openRefunds(claims: number, undelivered: number, failing: readonly number[] = []) {
  const references = Array.from({ length: claims + undelivered }, (_, index) => referenceNumber(index + 1))
  const open = references.map((reference, index) => ({ reference, createdAtMs: 1_000, position: index + 1 }))
  const ofKind: { readonly [kind: string]: typeof open } = {
    lease_ended: open.slice(0, claims),
    undelivered: open.slice(claims),
  }
  const recorded: string[] = []
  const run = () =>
    recordRefunds(limits, {
      clock: heldClock,
      log: silentLog,
      onStep: (step: LifecycleStep) => void recorded.push(step),
      payments: {
        append: ({ reference, before }) =>
          failing.includes(references.indexOf(reference) + 1)
            ? Promise.reject(new Error('this payment cannot be recorded'))
            : Promise.resolve({ outcome: 'appended', after: before, recordedAtMs: 0, leaves: [] }),
      },
      lifecycle: lifecycleWith({
        findOpen: ({ kind, after }: OpenQuestion, max) =>
          Promise.resolve(
            (ofKind[kind] ?? []).filter(({ position }) => position > (after?.position ?? 0)).slice(0, max),
          ),
        loadPayments: (asked) =>
          Promise.resolve(
            new Map(
              asked.map((each): [PaymentReference, PaymentState] => [
                each,
                references.indexOf(each) < claims ? claimed(each) : { ...verified(each), phase: 'released' },
              ]),
            ),
          ),
      }),
    })
  const count = (step: string) => recorded.filter((each) => each === step).length
  return { run, counts: () => [count('claim_expired'), count('refund_due')] }
}

test('one run ends every dead claim and owes back every undelivered payment, page by page', async () => {
  const { run, counts } = openRefunds(1_200, 501)
  await run()
  expect(counts()).toEqual([1_200, 501])
})

test('a payment that cannot be recorded keeps no other claim and no refund waiting, and its failure is thrown', async () => {
  const { run, counts } = openRefunds(3, 2, [1, 4])
  await expect(run()).rejects.toThrow('this payment cannot be recorded')
  expect(counts()).toEqual([2, 1])
  await expect(openRefunds(1, 2, [3]).run(), 'no claim fails').rejects.toThrow('cannot be recorded')
})

test('a run ends at a page of which the ledger records nothing, and still tries the refunds', async () => {
  const all = Array.from({ length: 1_200 }, (_, index) => index + 1)
  const { run, counts } = openRefunds(1_200, 2, all)
  await expect(run()).rejects.toThrow('this payment cannot be recorded')
  expect(counts()).toEqual([0, 2])
})

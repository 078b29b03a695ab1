import { assertPresent } from '@tollbook/core/assert'
import { decideExpiry, decideRefund } from '../payment/finality.ts'
import type { PaymentState } from '../payment/payment.ts'
import type { OpenQuestion } from '../payment/paymentLifecycle.ts'
import type { PaymentReference } from '../payment/paymentReference.ts'
import { recordStep, type StepDeps } from './recordStep.ts'
import { type Repeated, repeat } from './repeat.ts'

export interface ExpiryLimits {
  readonly refundAfterMs: number
  readonly attemptsMax: number
}

const everyMs = 60_000
// Maximum of payments per run and kind of step. An outage of a day may leave thousands of payments, which take several
// runs.
const batchMax = 500

/** Ends the claims of dead processes. Turns payments that stayed undelivered for a day into debts to their wallets. */
export function startRefundJob(limits: ExpiryLimits, deps: StepDeps): Repeated {
  return repeat(deps, {
    name: 'refunds',
    everyMs,
    run: () => deps.lifecycle.runElected('tollbook refunds', () => recordRefunds(limits, deps)),
  })
}

export async function recordRefunds({ refundAfterMs, attemptsMax }: ExpiryLimits, deps: StepDeps): Promise<void> {
  await eachOpen(deps, { kind: 'lease_ended' }, async (reference, before) => {
    const decision = decideExpiry(before, { nowMs: deps.clock.nowMs(), attemptsMax })
    await recordStep(deps, { kind: 'claim_expired', reference, before, decision })
  })
  await eachOpen(deps, { kind: 'undelivered', forMs: refundAfterMs }, async (reference, before) => {
    const decision = decideRefund(before)
    const isRecorded = await recordStep(deps, { kind: 'refund_due', reference, before, decision })
    if (isRecorded) deps.log.warn({ event: 'refund_due', reference })
  })
}

/** A caller may claim a payment at the same time. The version of the payment then decides which change is recorded. */
async function eachOpen(
  { lifecycle }: StepDeps,
  question: OpenQuestion,
  record: (reference: PaymentReference, before: PaymentState) => Promise<void>,
): Promise<void> {
  const open = await lifecycle.findOpen(question, batchMax)
  const references = open.map(({ reference }) => reference)
  const states = await lifecycle.loadPayments(references)
  await Promise.all(
    references.map((reference) =>
      record(reference, assertPresent(states.get(reference), 'an open payment has events')),
    ),
  )
}

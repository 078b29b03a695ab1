import { assertPresent } from '@tollbook/core/assert'
import { decideExpiry, decideRefund } from '../payment/finality.ts'
import type { PaymentState } from '../payment/payment.ts'
import type { OpenKind, OpenPayment } from '../payment/paymentLifecycle.ts'
import type { PaymentReference } from '../payment/paymentReference.ts'
import { recordStep, type StepDeps } from './recordStep.ts'
import { type Repeated, repeat } from './repeat.ts'

export interface ExpiryLimits {
  readonly refundAfterMs: number
  readonly attemptsMax: number
}

const everyMs = 60_000
const pageMax = 500
// Maximum of pages per run and kind of step: 20,000 payments. The next run continues.
const pagesMax = 40

/** Ends claims whose lease has ended. Turns payments that stayed undelivered for a day into debts to their wallets. */
export function startRefundJob(limits: ExpiryLimits, deps: StepDeps): Repeated {
  return repeat(deps, {
    name: 'refunds',
    everyMs,
    run: () => deps.lifecycle.runElected('tollbook refunds', () => recordRefunds(limits, deps)),
  })
}

/**
 * Records expired claims and due refunds. The failure of a payment does not stop the run. The first failure is thrown
 * at the end, so that the other payments are recorded first.
 */
export async function recordRefunds({ refundAfterMs, attemptsMax }: ExpiryLimits, deps: StepDeps): Promise<void> {
  const expiries = await eachOpen(deps, { kind: 'lease_ended' }, async (reference, before) => {
    const decision = decideExpiry(before, { nowMs: deps.clock.nowMs(), attemptsMax })
    await recordStep(deps, { kind: 'claim_expired', reference, before, decision })
  })
  const refunds = await eachOpen(deps, { kind: 'undelivered', forMs: refundAfterMs }, async (reference, before) => {
    const decision = decideRefund(before)
    const isRecorded = await recordStep(deps, { kind: 'refund_due', reference, before, decision })
    if (isRecorded) deps.log.warn({ event: 'refund_due', reference })
  })
  const [first] = [...expiries, ...refunds]
  if (first !== undefined) throw first.reason
}

/**
 * Records the steps of open payments, and returns the failures. If a caller claims a payment at the same time, the
 * version of the payment decides which change is recorded.
 */
async function eachOpen(
  { lifecycle }: StepDeps,
  question: OpenKind,
  record: (reference: PaymentReference, before: PaymentState) => Promise<void>,
): Promise<readonly PromiseRejectedResult[]> {
  const failures: PromiseRejectedResult[] = []
  let after: OpenPayment | undefined
  for (let page = 0; page < pagesMax; page++) {
    const open = await lifecycle.findOpen({ ...question, after }, pageMax)
    const references = open.map(({ reference }) => reference)
    const states = await lifecycle.loadPayments(references)
    const recorded = await Promise.allSettled(
      references.map(async (reference) =>
        record(reference, assertPresent(states.get(reference), 'an open payment has events')),
      ),
    )
    const failed = recorded.filter((each) => each.status === 'rejected')
    failures.push(...failed)
    after = open.at(-1)
    // A page that fails as a whole means that the ledger takes no appends.
    if (open.length < pageMax || failed.length === open.length) break
  }
  return failures
}

import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../machine/log.ts'
import type { PaymentDecision, PaymentState } from '../payment/payment.ts'
import type { PaymentLedger } from '../payment/paymentLedger.ts'
import type { PaymentLifecycle } from '../payment/paymentLifecycle.ts'
import type { PaymentReference } from '../payment/paymentReference.ts'

/** Steps of payments after their answers, as counted in the metrics. */
export const lifecycleSteps = [
  'finalized',
  'reversed',
  'claim_expired',
  'refund_due',
  'unmatched',
  'delivered',
  'unexplained_outflow',
] as const
export type LifecycleStep = (typeof lifecycleSteps)[number]

export interface StepDeps {
  readonly clock: Clock
  readonly log: Log
  readonly payments: Pick<PaymentLedger, 'append'>
  readonly lifecycle: PaymentLifecycle
  readonly onStep: (step: LifecycleStep) => void
}

export interface LifecycleRecord {
  readonly kind: LifecycleStep
  readonly reference: PaymentReference
  readonly before: PaymentState
  /** Undefined if the state of the payment does not allow the step. */
  readonly decision: PaymentDecision | undefined
}

/**
 * Records a step of a payment. False if there was nothing to record, or another writer was first. The next run then
 * reads the result.
 */
export async function recordStep(
  deps: StepDeps,
  { kind, reference, before, decision }: LifecycleRecord,
): Promise<boolean> {
  if (decision === undefined) return false
  const { outcome } = await deps.payments.append({ reference, before, ...decision, nowMs: deps.clock.nowMs() })
  if (outcome !== 'appended') return false
  deps.onStep(kind)
  return true
}

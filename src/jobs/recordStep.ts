import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../primitives/log.ts'
import type { PaymentEvent } from '../payment/events.ts'
import type { PaymentState } from '../payment/payment.ts'
import type { PaymentLedger } from '../payment/paymentLedger.ts'
import type { PaymentLife } from '../payment/paymentLife.ts'
import type { Signature } from '@tollbook/core/signature'

/** What was found out about a payment after its answer, for the metrics. */
export type LifeStep = 'finalized' | 'reversed' | 'claim_expired' | 'refund_due' | 'unmatched' | 'unexplained_outflow'

export interface StepDeps {
  readonly clock: Clock
  readonly log: Log
  readonly payments: Pick<PaymentLedger, 'append'>
  readonly life: PaymentLife
  readonly onStep: (step: LifeStep) => void
}

export interface Step {
  readonly kind: LifeStep
  readonly signature: Signature
  readonly before: PaymentState
  /** Undefined when the payment is not in a state for it. */
  readonly events: readonly PaymentEvent[] | undefined
}

/** False when there was nothing to record, or somebody else was first: the next round sees what they made of it. */
export async function recordStep(deps: StepDeps, { kind, signature, before, events }: Step): Promise<boolean> {
  if (events === undefined) return false
  const { outcome } = await deps.payments.append({ signature, before, events, nowMs: deps.clock.nowMs() })
  if (outcome !== 'appended') return false
  deps.onStep(kind)
  return true
}

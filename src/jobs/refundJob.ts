import { assertPresent } from '@tollbook/core/assert'
import { decideExpiry, decideRefund } from '../payment/finality.ts'
import { recordStep, type StepDeps } from './recordStep.ts'
import { type Repeated, repeat } from './repeat.ts'

export interface RefundDeps extends StepDeps {
  /** Maximum time without delivery before a payment is owed back. */
  readonly refundAfterMs: number
  readonly attemptsMax: number
}

const everyMs = 60_000
// A round ends when fewer are left; an outage of a day may leave thousands.
const batchMax = 500

/** Ends claims of processes that died, and turns payments that stayed undelivered for a day into debts to their wallets. */
export function startRefundJob(deps: RefundDeps): Repeated {
  return repeat(deps, {
    name: 'refunds',
    everyMs,
    run: () => deps.lifecycle.runElected('tollbook refunds', () => recordRefunds(deps)),
  })
}

export async function recordRefunds(deps: RefundDeps): Promise<void> {
  await expireClaims(deps)
  const open = await deps.lifecycle.findOpen({ kind: 'undelivered', forMs: deps.refundAfterMs }, batchMax)
  const references = open.map(({ reference }) => reference)
  const states = await deps.lifecycle.loadPayments(references)
  // A caller who claims at this moment is either first, and served, or second, and refused: the versions decide.
  await Promise.all(
    references.map(async (reference) => {
      const before = assertPresent(states.get(reference), 'an open payment has events')
      const isRecorded = await recordStep(deps, {
        kind: 'refund_due',
        reference,
        before,
        decision: decideRefund(before),
      })
      if (isRecorded) deps.log.warn({ event: 'refund_due', reference })
    }),
  )
}

async function expireClaims(deps: RefundDeps): Promise<void> {
  const open = await deps.lifecycle.findOpen({ kind: 'lease_ended' }, batchMax)
  const references = open.map(({ reference }) => reference)
  const states = await deps.lifecycle.loadPayments(references)
  await Promise.all(
    references.map(async (reference) => {
      const before = assertPresent(states.get(reference), 'an open payment has events')
      const decision = decideExpiry(before, { nowMs: deps.clock.nowMs(), attemptsMax: deps.attemptsMax })
      await recordStep(deps, { kind: 'claim_expired', reference, before, decision })
    }),
  )
}

import { assertPresent } from '@tollbook/core/assert'
import { decideExpiry, decideRefund } from '../payment/finality.ts'
import { recordStep, type StepDeps } from './recordStep.ts'
import { type Repeated, repeat } from './repeat.ts'

export interface RefundDeps extends StepDeps {
  /** For how long a payment may stay undelivered before it is owed back. */
  readonly refundAfterMs: number
}

const everyMs = 60_000
// A round ends when fewer are left; an outage of a day may leave thousands.
const batchMax = 500

/** Ends claims of processes that died, and turns what nobody could deliver for a day into a debt to its wallet. */
export function startRefundWatch(deps: RefundDeps): Repeated {
  return repeat(deps, {
    name: 'refund watch',
    everyMs,
    run: () => deps.life.runElected('tollbook refund watch', () => watchRefunds(deps)),
  })
}

export async function watchRefunds(deps: RefundDeps): Promise<void> {
  await expireClaims(deps)
  const open = await deps.life.findOpen({ kind: 'undelivered', forMs: deps.refundAfterMs }, batchMax)
  const signatures = open.map(({ signature }) => signature)
  const states = await deps.life.loadPayments(signatures)
  // A caller who claims at this moment is either first, and served, or second, and refused: the versions decide.
  await Promise.all(
    signatures.map(async (signature) => {
      const before = assertPresent(states.get(signature), 'an open payment has events')
      const isRecorded = await recordStep(deps, { kind: 'refund_due', signature, before, events: decideRefund(before) })
      if (isRecorded) deps.log.warn({ event: 'refund_due', signature })
    }),
  )
}

async function expireClaims(deps: RefundDeps): Promise<void> {
  const open = await deps.life.findOpen({ kind: 'lease_ended' }, batchMax)
  const signatures = open.map(({ signature }) => signature)
  const states = await deps.life.loadPayments(signatures)
  await Promise.all(
    signatures.map(async (signature) => {
      const before = assertPresent(states.get(signature), 'an open payment has events')
      const events = decideExpiry(before, deps.clock.nowMs())
      await recordStep(deps, { kind: 'claim_expired', signature, before, events })
    }),
  )
}

import { assert } from '@tollbook/core/assert'
import { type Refusal, refuseProof } from '@tollbook/core/refusal'
import type { TabDebited, TabReturned } from './events/tabEvents.ts'
import type { LiveAttempt, Order, PaymentDecision, PaymentState } from './payment.ts'
import { inProgressRetryMaxSeconds, refuseInProgress } from './paymentUse.ts'
import { type DebitSettlement, isDebit } from './tabSettlement.ts'

/* A request that a tab pays. attempt.ts has the steps that it shares with payments of the chain. */

/** Holds the price of one order on a tab. */
export interface DebitCommand {
  readonly order: Order
  readonly settlement: DebitSettlement
  readonly attemptId: string
  readonly leaseMs: number
  readonly attemptsMax: number
}

/** Decides a debit. A number stays with its order, and may be tried again after a failure. */
export function decideDebit(state: PaymentState, command: DebitCommand): PaymentDecision | Refusal {
  const { order, settlement, attemptId, leaseMs, attemptsMax } = command
  // Only the job ends the attempt of a dead process, because the hold must be on the tab again first.
  if (state.phase === 'claimed' || state.phase === 'streaming') return refuseInProgress(inProgressRetryMaxSeconds)
  const attempts = 'attempt' in state ? state.attempt : 0
  if (attempts >= attemptsMax) return refuseProof('tab_number_exhausted')
  const { debit, evidence, price, priceList, wallet } = settlement
  const { slot, blockTimeMs } = evidence
  assert(priceList !== undefined, 'a debit is at the price of a list')
  const attempt = { attempt: attempts + 1, attemptId, leaseMs }
  const debited: TabDebited = { kind: 'TabDebited', ...debit, slot, blockTimeMs, wallet, price, priceList, ...attempt }
  assert(debited.orderDigest === order.digest, 'a debit buys the order that it was signed for')
  return { step: 'tab_request.debit', events: [debited] }
}

/** Returns the part of a hold that was not charged to its tab. Nothing for a payment of the chain. */
export function returnedBy(
  { settlement }: Pick<LiveAttempt, 'settlement'>,
  chargedBaseUnits: bigint,
): readonly TabReturned[] {
  if (!isDebit(settlement)) return []
  const { price, debit } = settlement
  const baseUnits = price.requiredBaseUnits - chargedBaseUnits
  assert(baseUnits >= 0n, 'no more is charged than was held')
  return baseUnits === 0n ? [] : [{ kind: 'TabReturned', tab: debit.tab, mint: price.mint, baseUnits }]
}

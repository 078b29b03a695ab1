import { assert } from '@tollbook/core/assert'
import { type Refusal, refuseProof } from '@tollbook/core/refusal'
import type { Price } from '@tollbook/core/quote'
import type { Usage } from './events/attemptEvents.ts'
import type { TabCaptured, TabDebited, TabReturned } from './events/tabEvents.ts'
import type { BurnOwed } from './events/verificationEvents.ts'
import type { LiveAttempt, Order, PaymentDecision, PaymentState } from './payment.ts'
import { inProgressRetryMaxSeconds, refuseInProgress } from './paymentUse.ts'
import { type DebitSettlement, isDebit } from './tabSettlement.ts'

export interface DebitCommand {
  readonly order: Order
  readonly settlement: DebitSettlement
  readonly attemptId: string
  readonly leaseMs: number
  readonly attemptsMax: number
}

/** Decides a debit. Its number is valid for one order only, which may be tried again with that number after a failure. */
export function decideDebit(state: PaymentState, command: DebitCommand): PaymentDecision | Refusal {
  const { order, settlement, attemptId, leaseMs, attemptsMax } = command
  // If the process of a live attempt died, only the job may end the attempt: the hold must first return to the tab.
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

export type Charge = Pick<Price, 'requiredBaseUnits' | 'burnBaseUnits' | 'shares' | 'tokenBurn'>

interface CaptureCommand {
  readonly orderDigest: string
  readonly answerDigest: string
  readonly charged?: Charge
  readonly usage?: Usage
}

type LiveDebit = Pick<LiveAttempt, 'attempt'> & { readonly settlement: DebitSettlement }

export function decideCapture({ attempt, settlement }: LiveDebit, command: CaptureCommand): PaymentDecision {
  const { price, debit } = settlement
  const { orderDigest, answerDigest, usage, charged = price } = command
  const { requiredBaseUnits, burnBaseUnits, shares, tokenBurn } = charged
  const allocatedBaseUnits = shares.reduce((sum, { baseUnits }) => sum + baseUnits, burnBaseUnits)
  assert(allocatedBaseUnits === requiredBaseUnits, 'burn and shares are the whole charge (I18)')
  assert(orderDigest === debit.orderDigest, 'a debit is captured for the order that it was signed for')
  const baseUnits = price.requiredBaseUnits - requiredBaseUnits
  assert(baseUnits >= 0n, 'no more is charged than was held')
  const captured: TabCaptured = {
    kind: 'TabCaptured',
    attempt,
    answerDigest,
    mint: price.mint,
    burnBaseUnits,
    shares,
    ...(usage === undefined ? {} : { usage }),
    ...(baseUnits === 0n ? {} : { returned: { tab: debit.tab, baseUnits } }),
  }
  const { endpoint } = price
  return { step: 'tab_request.capture', events: [captured, ...promisedBurnOf({ endpoint, tokenBurn })] }
}

export function promisedBurnOf({ endpoint, tokenBurn }: PromisedBurn): readonly BurnOwed[] {
  if (tokenBurn === undefined) return []
  const { mint, baseUnits: owedBaseUnits } = tokenBurn
  return [{ kind: 'BurnOwed', mint, endpoint, owedBaseUnits, source: 'treasury' }]
}

interface PromisedBurn extends Pick<Price, 'endpoint'> {
  readonly tokenBurn?: Price['tokenBurn'] | undefined
}

/**
 * Returns the event by which the tab gets the whole hold back, because nothing was delivered. Empty for a payment on
 * the chain.
 */
export function returnedBy({ settlement }: Pick<LiveAttempt, 'settlement'>): readonly TabReturned[] {
  if (!isDebit(settlement)) return []
  const { price, debit } = settlement
  return [{ kind: 'TabReturned', tab: debit.tab, mint: price.mint, baseUnits: price.requiredBaseUnits }]
}

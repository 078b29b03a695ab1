import { isRefusal, type Refusal } from '@tollbook/core/refusal'
import type { MessageReference } from '../../payment/paymentReference.ts'
import type { Settlement } from '../../payment/settlement.ts'
import type { SettleQuestion } from '../../paywall/rail.ts'
import { createFirstPresentations, type FirstPresentationDeps } from '../solana/firstPresentation.ts'
import type { SettleLimits } from '../solana/settlePayment.ts'
import { type CoSignQuestion, judgeUnsigned } from './coSign.ts'
import { type ListPriceDeps, priceOfList } from './priceOfList.ts'
import { settleSponsored, type SponsoredSettleDeps } from './settleSponsored.ts'
import { resumeSponsored, type SponsoredProof } from './sponsoredProof.ts'

/** Payments whose network fee this service pays. The rails differ in their headers only. */
export interface SponsoredPayments {
  /** Has the fee payer sign a payment that is not on record. Throws a retryable fault while the outcome is unknown. */
  settle(question: SettleQuestion<SponsoredProof>): Promise<Settlement | Refusal>
  /** The proof of an earlier payment of the same payer for the order, whom a payment that could be signed identifies. */
  resume(question: CoSignQuestion, message: MessageReference): Promise<SponsoredProof | undefined>
}

/** The operator's limits on sponsored payments. */
export interface SponsoredLimits extends SettleLimits, Pick<ListPriceDeps, 'priceHoldMs'> {}

export interface SponsoredDeps
  extends
    Omit<ListPriceDeps, 'ledger' | 'nowMs' | 'priceHoldMs'>,
    Omit<SponsoredSettleDeps, 'first' | 'ledger' | 'priceOfList'>,
    Omit<FirstPresentationDeps, 'chain'> {
  readonly ledger: ListPriceDeps['ledger'] & SponsoredSettleDeps['ledger']
}

export function createSponsoredPayments(limits: SponsoredLimits, given: SponsoredDeps): SponsoredPayments {
  const { ledger, currentPrice, findListed, clock } = given
  const { priceHoldMs } = limits
  const pricing = { ledger, currentPrice, findListed, priceHoldMs, nowMs: () => clock.nowMs() }
  const first = createFirstPresentations(given)
  const deps = { ...given, first, priceOfList: priceOfList.bind(undefined, pricing) }
  return {
    settle: (question) => settleSponsored(deps, limits, question),
    async resume(question, message) {
      // Its payer may have signed it for another seller, who knows the secret of that offer.
      if (isRefusal(await judgeUnsigned(deps, question))) return undefined
      return resumeSponsored(question.proof, message)
    },
  }
}

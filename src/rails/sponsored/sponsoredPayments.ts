import { isRefusal } from '@tollbook/core/refusal'
import type { PaymentRail } from '../../paywall/rail.ts'
import { checkSecret } from '../solana/checkSecret.ts'
import { createFirstPresentations, type FirstPresentationDeps } from '../solana/firstPresentation.ts'
import type { SettleLimits } from '../solana/settlePayment.ts'
import { judgeUnsigned } from './coSign.ts'
import { type ListPriceDeps, priceOfList } from './priceOfList.ts'
import { settleSponsored, type SponsoredSettleDeps } from './settleSponsored.ts'
import type { SponsoredProof } from './sponsoredProof.ts'

/** The common part of all rails whose network fee this service pays. Such rails differ only in their headers. */
export type SponsoredPayments = Required<Pick<PaymentRail<SponsoredProof>, 'resume' | 'checkHolder' | 'settle'>>

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
    checkHolder: checkSecret,
    settle: (question) => settleSponsored(deps, limits, question),
    async resume(question, reference) {
      // The payer may have signed the transaction for another seller, who has the secret of that offer.
      if (isRefusal(await judgeUnsigned(deps, question))) return undefined
      return { ...question.proof, reference, isPayer: true }
    },
  }
}

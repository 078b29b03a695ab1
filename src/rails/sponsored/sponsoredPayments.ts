import type { Address } from '@tollbook/core/address'
import type { Price } from '@tollbook/core/quote'
import { isRefusal } from '@tollbook/core/refusal'
import type { BalanceQuestion } from '../../payment/chainReader.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import type { PaymentRail } from '../../paywall/rail.ts'
import { checkSecret } from '../solana/checkSecret.ts'
import { createFirstPresentations, type FirstPresentationDeps } from '../solana/firstPresentation.ts'
import type { SettleLimits } from '../solana/settlePayment.ts'
import { judgeUnsigned } from './coSign.ts'
import type { WithDollars } from './dollars.ts'
import { type ListPriceDeps, priceOfList } from './priceOfList.ts'
import { settleSponsored, type SponsoredSettleDeps } from './settleSponsored.ts'
import type { SponsoredProof } from './sponsoredProof.ts'

/** The common part of all rails whose network fee this service pays. */
export type SponsoredPayments = Required<Pick<PaymentRail<SponsoredProof>, 'resume' | 'checkHolder' | 'settle'>>

export interface SponsoredLimits extends SettleLimits, Pick<ListPriceDeps, 'priceHoldMs'> {}

export interface SponsoredDeps
  extends
    Omit<ListPriceDeps, 'ledger' | 'nowMs' | 'priceHoldMs'>,
    Omit<SponsoredSettleDeps, 'first' | 'ledger' | 'priceOfList'>,
    Omit<FirstPresentationDeps, 'chain'>,
    WithDollars {
  readonly acceptedTerms?: (landedAtMs: number, mint?: Address) => readonly PaymentTerms[]
  /**
   * Returns the terms of a dollar token that the service no longer accepts. It must still settle payments in this token
   * that it has sent.
   */
  readonly formerTerms?: (mint: Address) => PaymentTerms | undefined
  readonly ledger: ListPriceDeps['ledger'] & SponsoredSettleDeps['ledger']
}

export function createSponsoredPayments(limits: SponsoredLimits, given: SponsoredDeps): SponsoredPayments {
  const { ledger, currentPrice, findListed, clock } = given
  const { priceHoldMs } = limits
  const pricing = { ledger, currentPrice, findListed, priceHoldMs, nowMs: () => clock.nowMs() }
  const first = createFirstPresentations(given)
  const acceptedDollar = (mint: Address | undefined) => (mint === undefined ? undefined : given.dollars?.termsOf(mint))
  const sentDollar = (mint: Address | undefined) =>
    acceptedDollar(mint) ?? (mint === undefined ? undefined : given.formerTerms?.(mint))
  const depsOf = (dollar: PaymentTerms | undefined) => {
    const own = dollar === undefined ? given : inDollars(given, dollar)
    return { ...own, first, priceOfList: priceOfList.bind(undefined, { ...pricing, dollar: dollar?.mint }) }
  }
  return {
    checkHolder: checkSecret,
    settle(question) {
      const { payment, proof } = question
      const dollar = payment.phase === 'submitted' ? sentDollar(payment.offer?.mint) : acceptedDollar(proof.signed.mint)
      return settleSponsored(depsOf(dollar), limits, question)
    },
    async resume(question, reference) {
      // Refuse to resume if the payment is not for this service. The payer may have signed it for another seller, who
      // has the secret of that offer.
      if (isRefusal(await judgeUnsigned(depsOf(acceptedDollar(question.proof.signed.mint)), question))) return undefined
      return { ...question.proof, reference, isPayer: true }
    },
  }
}

function inDollars(given: SponsoredDeps, terms: PaymentTerms) {
  const { chain, acceptedTerms, dollars } = given
  const { mint } = terms
  return {
    ...given,
    terms,
    dollar: mint,
    chain: { ...chain, readBalance: (question: BalanceQuestion) => chain.readBalance({ ...question, mint }) },
    acceptedTerms: (landedAtMs: number) => acceptedTerms?.(landedAtMs, mint) ?? [],
    whyClosed: (price: Price) => dollars?.whyClosed(price) ?? Promise.resolve(undefined),
  }
}

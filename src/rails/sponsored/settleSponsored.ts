import type { Refusal } from '@tollbook/core/refusal'
import type { ChainReader } from '../../payment/chainReader.ts'
import type { Settlement } from '../../payment/settlement.ts'
import type { SettleQuestion } from '../../paywall/rail.ts'
import { settlePayment, type SettleDeps, type SettleLimits } from '../solana/settlePayment.ts'
import type { PriceOfList } from './priceOfList.ts'
import { owingBurn, type SponsoredProof } from './presentSponsored.ts'

export interface SponsoredSettleDeps extends Omit<SettleDeps, 'choosePrice' | 'recallPrice'> {
  readonly priceOfList: PriceOfList
}

/** Settles by the steps of the native rail. The price is that of the offered list, and the burn is owed. */
export function settleSponsored(
  deps: SponsoredSettleDeps,
  limits: SettleLimits,
  question: SettleQuestion<SponsoredProof>,
): Promise<Settlement | Refusal> {
  const { priceList, rehearsed } = question.proof
  return settlePayment(
    {
      ...deps,
      chain: rehearsed === undefined ? deps.chain : rehearsedChain(deps.chain, rehearsed),
      terms: owingBurn(deps.terms),
      acceptedTerms: (landedAtMs) => (deps.acceptedTerms?.(landedAtMs) ?? []).map(owingBurn),
      choosePrice: (price) => deps.priceOfList(priceList, price),
    },
    limits,
    question,
  )
}

/** The transaction was rehearsed before the fee payer signed, and its signature changes no effect. */
function rehearsedChain(chain: ChainReader, rehearsed: NonNullable<SponsoredProof['rehearsed']>): ChainReader {
  return { ...chain, simulate: () => Promise.resolve(rehearsed) }
}

/** A refusal that no repetition of the same proof changes: the client has to pay again, and may. */
export function isPermanent({ code, retryAfterSeconds }: Refusal): boolean {
  return (code === 'INVALID_PAYMENT' || code === 'INSUFFICIENT_BALANCE') && retryAfterSeconds === undefined
}

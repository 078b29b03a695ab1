import type { ListedPrice } from '@tollbook/core/quote'
import type { Product } from '../product/product.ts'
import type { Answer, StreamedAnswer } from './answer.ts'
import { findReceipt, type FoundReceipt, type ReceiptQuestion } from './findReceipt.ts'
import type { PaidRequest } from './paidRequest.ts'
import type { Paywall } from './paywall.ts'
import { openOffer } from './issueOffer.ts'
import type { Offer, PaymentRail } from './rail.ts'
import { sellAndExplain } from './sellAndExplain.ts'

/** The paywall, as HTTP uses it. Ledger, keys and time limits stay behind it. */
export interface Sales {
  /** In the order in which they are asked. */
  readonly rails: readonly PaymentRail[]
  currentPrice(endpoint: string): ListedPrice | undefined
  /** Reason why nothing is sold; undefined while the service sells. */
  whyClosed(): string | undefined
  /** Reason why no quotes are made, although a caller who has paid is served. */
  whyNoQuotes(): string | undefined
  /** Names an offer, and gives it the lifetime of every offer. Nothing is stored. */
  openOffer(question: Pick<Offer, 'product' | 'payer' | 'price'>): Omit<Offer, 'request'>
  sell(product: Product, request: PaidRequest): Promise<Answer | StreamedAnswer>
  /** Throws a fault while the ledger does not answer. */
  findReceipt(question: ReceiptQuestion): Promise<FoundReceipt | undefined>
}

export function createSales(paywall: Paywall): Sales {
  const { rails, currentPrice, whyClosed, whyNoQuotes } = paywall
  return {
    rails,
    currentPrice,
    whyClosed,
    whyNoQuotes,
    openOffer: openOffer.bind(undefined, paywall),
    sell: sellAndExplain.bind(undefined, paywall),
    findReceipt: findReceipt.bind(undefined, paywall),
  }
}

import { Fault } from '@tollbook/core/fault'
import type { ListedPrice } from '@tollbook/core/quote'
import { isRefusal } from '@tollbook/core/refusal'
import { mayPayAgain } from '../payment/newPayment.ts'
import type { Product } from '../product/product.ts'
import { type Answer, isAnswer, refusalAnswer, type Refused } from './answer.ts'
import { findReceipt, type FoundReceipt, type ReceiptQuestion } from './findReceipt.ts'
import type { PaidRequest } from './paidRequest.ts'
import { type Paywall, sell, type Sold } from './paywall.ts'
import { openOffer } from './issueOffer.ts'
import type { Offer, PaymentRail } from './rail.ts'

/** Hides the ledger, the keys and the time limits from the HTTP layer. */
export interface Sales {
  readonly rails: readonly PaymentRail[]
  currentPrice(endpoint: string): ListedPrice | undefined
  whyClosed(): string | undefined
  /** Undefined while quotes are created. Does not affect callers who have paid. */
  whyNoQuotes(): string | undefined
  /** Creates an offer with an id and an expiry, and stores nothing. */
  openOffer(question: Pick<Offer, 'product' | 'payer' | 'price'>): Omit<Offer, 'request'>
  sell(product: Product, request: PaidRequest): Promise<Exclude<Sold, Refused>>
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
    sell: (product, request) => sellAndAnswer(paywall, product, request),
    findReceipt: findReceipt.bind(undefined, paywall),
  }
}

/** Keeps the endpoint of the order, because the price in a new offer depends on it. */
async function sellAndAnswer(
  paywall: Paywall,
  product: Product,
  request: PaidRequest,
): Promise<Exclude<Sold, Refused>> {
  let endpoint = product.path
  const sold = await sell(paywall, product, {
    ...request,
    async readParameters() {
      const ordered = await request.readParameters()
      if (!isAnswer(ordered)) endpoint = ordered.endpoint
      return ordered
    },
  })
  return isRefusal(sold) ? answerRefusal(paywall, sold, { request, product, endpoint }) : sold
}

interface RefusedOrder extends Pick<Offer, 'request' | 'product'> {
  readonly endpoint: string
}

/**
 * Uses the format of the rail whose proof the request has, because its clients may not understand the usual response
 * body.
 */
async function answerRefusal(
  paywall: Paywall,
  refused: Refused,
  { endpoint, ...asked }: RefusedOrder,
): Promise<Answer> {
  const { request } = asked
  const rail = paywall.rails.find((each) => each.carriesProof(request))
  const explain = rail?.explain
  if (explain === undefined) return refusalAnswer(refused)
  const price = mayPayAgain(refused, refused.payment) ? paywall.currentPrice(endpoint) : undefined
  const offer = price === undefined ? undefined : openOffer(paywall, { ...asked, payer: undefined, price })
  const explanation = await explain(refused, { request, offer }).catch((error: unknown) => {
    // Without its new offer, the refusal needs no ledger.
    if (error instanceof Fault) return explain(refused, { request, offer: undefined })
    throw error
  })
  return refusalAnswer(refused, explanation)
}

import type { ListedPrice } from '@tollbook/core/quote'
import { isRefusal } from '@tollbook/core/refusal'
import { mayPayAgain } from '../payment/newPayment.ts'
import type { Product } from '../product/product.ts'
import { type Answer, isAnswer, refusalAnswer, type Refused, type StreamedAnswer } from './answer.ts'
import { findReceipt, type FoundReceipt, type ReceiptQuestion } from './findReceipt.ts'
import type { PaidRequest } from './paidRequest.ts'
import { type Paywall, sell } from './paywall.ts'
import { openOffer } from './issueOffer.ts'
import type { Offer, PaymentRail } from './rail.ts'

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
    sell: (product, request) => sellAndAnswer(paywall, product, request),
    findReceipt: findReceipt.bind(undefined, paywall),
  }
}

/** Sells, and makes the answer of a refusal. The parameters decide which price a further offer repeats. */
async function sellAndAnswer(
  paywall: Paywall,
  product: Product,
  request: PaidRequest,
): Promise<Answer | StreamedAnswer> {
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

/** The answer of a refusal, in the words of the rail whose proof it refuses: its clients read it without knowing our bodies. */
async function answerRefusal(
  paywall: Paywall,
  refused: Refused,
  { endpoint, ...asked }: RefusedOrder,
): Promise<Answer> {
  const { request } = asked
  const rail = paywall.rails.find((each) => each.carriesProof(request))
  if (rail?.explain === undefined) return refusalAnswer(refused)
  const price = mayPayAgain(refused, refused.payment) ? paywall.currentPrice(endpoint) : undefined
  const offer = price === undefined ? undefined : openOffer(paywall, { ...asked, payer: undefined, price })
  return refusalAnswer(refused, await rail.explain(refused, { request, offer }))
}

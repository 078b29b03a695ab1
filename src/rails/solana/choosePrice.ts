import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Order } from '../../payment/payment.ts'
import type { PaymentLedger } from '../../payment/paymentLedger.ts'
import { type ListedPrice, plainPrice, type Price } from '@tollbook/core/quote'
import { type Refusal, refuseProof } from '@tollbook/core/refusal'

export interface PriceDeps {
  readonly ledger: PaymentLedger
  readonly currentPrice: (endpoint: string) => ListedPrice | undefined
  /** Grace period after the expiry of a quote, in milliseconds. */
  readonly quoteGraceMs: number
}

/** With a memo, only quotes with this memo apply. Without one, the cheapest open quote of wallet and endpoint applies. */
export interface PriceQuestion {
  readonly order: Order
  readonly memo: string | undefined
  readonly landedAtMs: number
  readonly landedSlot: number
}

/**
 * Returns the landing time for a transaction that is not on chain yet. It can only land later, so every quote that is
 * open now applies.
 */
export function landingNow(clock: Clock): Pick<PriceQuestion, 'landedAtMs' | 'landedSlot'> {
  return { landedAtMs: clock.nowMs(), landedSlot: Number.MAX_SAFE_INTEGER }
}

/** The price that the payment must satisfy. `quoteId` is undefined if no quote is open and the price list decides. */
export interface ChosenPrice {
  readonly price: Price
  readonly priceList: number
  readonly quoteId: string | undefined
}

export interface PriceRule {
  readonly choosePrice: (question: PriceQuestion) => Promise<ChosenPrice | Refusal>
  /** Returns a price from memory that a payment without a memo may meet. `choosePrice` may find a lower price. */
  readonly recallPrice?: (question: PriceQuestion) => ChosenPrice | undefined
}

/** Returns the price of an open quote in memory. A caller who pays it pays enough, even if a cheaper quote is open. */
export function recallPrice(
  { ledger, quoteGraceMs: graceMs }: PriceDeps,
  { order, memo, landedAtMs, landedSlot }: PriceQuestion,
): ChosenPrice | undefined {
  if (memo !== undefined) return undefined
  const { wallet, endpoint } = order
  const quote = ledger.findRecentOpenQuote({ wallet, endpoint, landedAtMs, landedSlot, graceMs })
  return quote && { price: plainPrice(quote), priceList: quote.priceList, quoteId: quote.id }
}

/**
 * Returns the price of a payment. A bound payment has the price of its quote, if the quote was open when the payment
 * landed. A payment without a memo has the price of the cheapest quote that was open then. Otherwise the price list in
 * force at that moment decides, so late payers pay the current price. Refuses a memo without a quote, and a payment
 * that landed before its quote.
 */
export async function choosePrice(
  deps: PriceDeps,
  { order, memo, landedAtMs, landedSlot }: PriceQuestion,
): Promise<ChosenPrice | Refusal> {
  const { wallet, endpoint } = order
  const { quoteGraceMs: graceMs, ledger } = deps
  const open = { wallet, endpoint, landedAtMs, landedSlot, graceMs }
  const quote = await (memo === undefined ? ledger.findOpenQuote(open) : ledger.findBoundQuote({ ...open, memo }))
  if (quote === undefined && memo !== undefined) return refuseProof('quote_unknown')
  if (quote !== undefined && landedSlot < quote.slot) return refuseProof('landed_before_quote')
  // The quote is not open any more at exactly the end of its grace period.
  if (quote !== undefined && landedAtMs < quote.expiresAtMs + graceMs)
    return { price: plainPrice(quote), priceList: quote.priceList, quoteId: quote.id }

  const price = (await ledger.findPrice(endpoint, landedAtMs)) ?? deps.currentPrice(endpoint)
  if (price === undefined) throw new Fault('no price was on record when the payment landed', { retryable: true })
  return { price: plainPrice(price), priceList: price.priceList, quoteId: undefined }
}

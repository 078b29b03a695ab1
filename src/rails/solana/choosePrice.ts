import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Order } from '../../payment/payment.ts'
import type { PaymentLedger } from '../../payment/paymentLedger.ts'
import { type ListedPrice, plainPrice, type Price } from '@tollbook/core/quote'
import { type Refusal, refuseProof } from '@tollbook/core/refusal'

export interface PriceDeps {
  readonly ledger: PaymentLedger
  readonly currentPrice: (endpoint: string) => ListedPrice | undefined
  /** Grace period after the expiry of a quote. */
  readonly quoteGraceMs: number
}

/** A landed payment. A memo names one quote; without it the cheapest open quote counts. */
export interface PriceQuestion {
  readonly order: Order
  readonly memo: string | undefined
  readonly landedAtMs: number
  readonly landedSlot: number
}

/** For a transaction that is not on chain: it can only land after now, so every quote that is open now is open for it. */
export function landingNow(clock: Clock): Pick<PriceQuestion, 'landedAtMs' | 'landedSlot'> {
  return { landedAtMs: clock.nowMs(), landedSlot: Number.MAX_SAFE_INTEGER }
}

/**
 * The price that the payment has to satisfy. `quoteId` is undefined when no quote is open and the price list decides.
 */
export interface ChosenPrice {
  readonly price: Price
  readonly priceList: number
  readonly quoteId: string | undefined
}

/** A rail's rule for the price that a payment has to meet. */
export interface PriceRule {
  readonly choosePrice: (question: PriceQuestion) => Promise<ChosenPrice | Refusal>
  /** A price that a plain payment may meet, without a query. `choosePrice` may find a lower one. */
  readonly recallPrice?: (question: PriceQuestion) => ChosenPrice | undefined
}

/** The price of a quote that this process has stored. A caller that pays as much pays enough, even if a cheaper quote is open. */
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
 * A bound payment has the price of its quote, a plain one that of the cheapest quote that was open when it landed. If
 * there is none, or it had expired, the list in force at that moment decides: late payers pay the price of the day.
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
  // Open until the end of the grace and not at it, like the plain ones that the ledger looks for.
  if (quote !== undefined && landedAtMs < quote.expiresAtMs + graceMs)
    return { price: plainPrice(quote), priceList: quote.priceList, quoteId: quote.id }

  const price = (await ledger.findPrice(endpoint, landedAtMs)) ?? deps.currentPrice(endpoint)
  if (price === undefined) throw new Fault('no price was on record when the payment landed', { retryable: true })
  return { price: plainPrice(price), priceList: price.priceList, quoteId: undefined }
}

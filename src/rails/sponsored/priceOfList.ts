import type { Address } from '@tollbook/core/address'
import { plainPrice, type ListedPrice } from '@tollbook/core/quote'
import { Fault } from '@tollbook/core/fault'
import { sentForArrival } from '@tollbook/core/transferFee'
import type { PaymentLedger } from '../../payment/paymentLedger.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import type { ChosenPrice, PriceQuestion } from '../solana/choosePrice.ts'

export interface ListPriceDeps {
  readonly ledger: Pick<PaymentLedger, 'findPrice'>
  readonly currentPrice: (endpoint: string, dollar?: Address) => ListedPrice | undefined
  readonly findListed: (endpoint: string, priceList: number, dollar?: Address) => Promise<ListedPrice | undefined>
  /** Mint of a payment in dollars. Absent: the service token. */
  readonly dollar?: Address | undefined
  /**
   * Time for which a price stays valid after its list was replaced, in milliseconds. It also bounds how much earlier
   * than the offer the time of a block may be.
   */
  readonly priceHoldMs: number
  readonly nowMs: () => number
}

export type PriceOfList = (priceList: number, question: PriceQuestion) => Promise<ChosenPrice>

/**
 * Returns the price in the offer, if its list was in force within `priceHoldMs` of the landing. Otherwise it returns
 * the price in force at the landing, as for any late payer. The payer states the number of the list, and could
 * otherwise choose any list with a lower price.
 */
export async function priceOfList(
  deps: ListPriceDeps,
  priceList: number,
  { order, landedAtMs }: PriceQuestion,
): Promise<ChosenPrice> {
  const { endpoint } = order
  const { nowMs, priceHoldMs, dollar } = deps
  const current = deps.currentPrice(endpoint, dollar)
  if (current?.priceList === priceList && nowMs() <= landedAtMs + priceHoldMs) return chosen(current)
  const listed = await deps.findListed(endpoint, priceList, dollar)
  const oldest = await deps.ledger.findPrice(endpoint, landedAtMs - priceHoldMs, dollar)
  const newest = await deps.ledger.findPrice(endpoint, landedAtMs + priceHoldMs, dollar)
  const isOfThatTime =
    oldest !== undefined && newest !== undefined && priceList >= oldest.priceList && priceList <= newest.priceList
  if (listed !== undefined && isOfThatTime) return chosen(listed)
  const inForce = (await deps.ledger.findPrice(endpoint, landedAtMs, dollar)) ?? current
  if (inForce === undefined) throw new Fault('no price was on record when the payment landed', { retryable: true })
  return chosen(inForce)
}

/** Returns the price of an offer that was judged before the fee payer signed. Later events do not change it. */
export async function priceOnRecord(
  { findListed, dollar }: Pick<ListPriceDeps, 'findListed' | 'dollar'>,
  priceList: number,
  endpoint: string,
): Promise<ChosenPrice> {
  const listed = await findListed(endpoint, priceList, dollar)
  if (listed === undefined) throw new Fault(`price list ${priceList} has no price of ${endpoint}`, { retryable: true })
  return chosen(listed)
}

function chosen(price: ListedPrice): ChosenPrice {
  return { price: plainPrice(price), priceList: price.priceList, quoteId: undefined }
}

/** Returns the base units to send so that the whole price arrives, even if the mint withholds a fee. */
export function amountToSend(terms: PaymentTerms, requiredBaseUnits: bigint): bigint {
  const transferFee = terms.transferFee?.()
  return transferFee === undefined ? requiredBaseUnits : sentForArrival(requiredBaseUnits, transferFee)
}

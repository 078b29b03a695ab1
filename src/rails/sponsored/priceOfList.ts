import { plainPrice, type ListedPrice } from '@tollbook/core/quote'
import { Fault } from '@tollbook/core/fault'
import { sentForArrival } from '@tollbook/core/transferFee'
import type { PaymentLedger } from '../../payment/paymentLedger.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import type { ChosenPrice, PriceQuestion } from '../solana/choosePrice.ts'

export interface ListPriceDeps {
  readonly ledger: Pick<PaymentLedger, 'findPrice'>
  readonly currentPrice: (endpoint: string) => ListedPrice | undefined
  /** The price of an endpoint in the list of that number. */
  readonly findListed: (endpoint: string, priceList: number) => Promise<ListedPrice | undefined>
  /** A price stays valid for this time after its list was replaced. The time of a block may be earlier than the offer by as much. */
  readonly priceHoldMs: number
  readonly nowMs: () => number
}

/** `priceOfList` with its dependencies. */
export type PriceOfList = (priceList: number, question: PriceQuestion) => Promise<ChosenPrice>

/**
 * The price that the offer named, if its list was in force when the payment landed or not long before. Otherwise the price
 * in force at that moment, as for any late payer. The payer writes the number of the list, so a list that came into force long
 * after the payment landed is not accepted: its price may be lower.
 */
export async function priceOfList(
  deps: ListPriceDeps,
  priceList: number,
  { order, landedAtMs }: PriceQuestion,
): Promise<ChosenPrice> {
  const { endpoint } = order
  const { nowMs, priceHoldMs } = deps
  const current = deps.currentPrice(endpoint)
  if (current?.priceList === priceList && nowMs() <= landedAtMs + priceHoldMs) return chosen(current)
  const listed = await deps.findListed(endpoint, priceList)
  const oldest = await deps.ledger.findPrice(endpoint, landedAtMs - priceHoldMs)
  const newest = await deps.ledger.findPrice(endpoint, landedAtMs + priceHoldMs)
  const isOfThatTime =
    oldest !== undefined && newest !== undefined && priceList >= oldest.priceList && priceList <= newest.priceList
  if (listed !== undefined && isOfThatTime) return chosen(listed)
  const inForce = (await deps.ledger.findPrice(endpoint, landedAtMs)) ?? current
  if (inForce === undefined) throw new Fault('no price was on record when the payment landed', { retryable: true })
  return chosen(inForce)
}

/** The price of an offer on record: it was judged before the fee payer signed, and nothing that happened since changes it. */
export async function priceOnRecord(
  { findListed }: Pick<ListPriceDeps, 'findListed'>,
  priceList: number,
  endpoint: string,
): Promise<ChosenPrice> {
  const listed = await findListed(endpoint, priceList)
  if (listed === undefined) throw new Fault(`price list ${priceList} has no price of ${endpoint}`, { retryable: true })
  return chosen(listed)
}

function chosen(price: ListedPrice): ChosenPrice {
  return { price: plainPrice(price), priceList: price.priceList, quoteId: undefined }
}

/** Base units that the payer sends so that the whole price arrives, also where the mint withholds a fee. */
export function amountToSend(terms: PaymentTerms, requiredBaseUnits: bigint): bigint {
  const transferFee = terms.transferFee?.()
  return transferFee === undefined ? requiredBaseUnits : sentForArrival(requiredBaseUnits, transferFee)
}

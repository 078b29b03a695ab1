import { plainPrice, type ListedPrice } from '@tollbook/core/quote'
import { Fault } from '@tollbook/core/fault'
import { sentForArrival } from '@tollbook/core/transferFee'
import type { PaymentLedger } from '../../payment/paymentLedger.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import type { ChosenPrice, PriceQuestion } from '../native/choosePrice.ts'

export interface ListPriceDeps {
  readonly ledger: Pick<PaymentLedger, 'findPrice'>
  readonly currentPrice: (endpoint: string) => ListedPrice | undefined
  /** The price of an endpoint in the list of that number. */
  readonly findListed: (endpoint: string, priceList: number) => Promise<ListedPrice | undefined>
  /** Time for which a price is good after its list was replaced. */
  readonly priceHoldMs: number
}

/** `priceOfList` with its dependencies. */
export type PriceOfList = (priceList: number, question: PriceQuestion) => Promise<ChosenPrice>

/**
 * The price that the offer named, if its list was in force when the payment landed or not long before. Otherwise the price
 * in force at that moment, as for any late payer.
 */
export async function priceOfList(
  deps: ListPriceDeps,
  priceList: number,
  { order, landedAtMs }: PriceQuestion,
): Promise<ChosenPrice> {
  const { endpoint } = order
  const current = deps.currentPrice(endpoint)
  if (current?.priceList === priceList) return chosen(current)
  const listed = await deps.findListed(endpoint, priceList)
  const oldest = await deps.ledger.findPrice(endpoint, landedAtMs - deps.priceHoldMs)
  if (listed !== undefined && oldest !== undefined && listed.priceList >= oldest.priceList) return chosen(listed)
  const inForce = (await deps.ledger.findPrice(endpoint, landedAtMs)) ?? current
  if (inForce === undefined) throw new Fault('no price was on record when the payment landed', { retryable: true })
  return chosen(inForce)
}

function chosen(price: ListedPrice): ChosenPrice {
  return { price: plainPrice(price), priceList: price.priceList, quoteId: undefined }
}

/** Base units that the payer sends so that the whole price arrives, also where the mint withholds a fee. */
export function amountToSend({ transferFee }: PaymentTerms, requiredBaseUnits: bigint): bigint {
  return transferFee === undefined ? requiredBaseUnits : sentForArrival(requiredBaseUnits, transferFee)
}

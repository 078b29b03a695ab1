import type { Address } from '@tollbook/core/address'
import type { ListedPrice, Price } from '@tollbook/core/quote'
import type { Offer } from '../../paywall/rail.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'

/** The dollar tokens that sponsored rails accept in addition to the service token. */
export interface Dollars {
  /** Returns the terms of a dollar token, even while it is not offered. Undefined for any other mint. */
  termsOf(mint: Address): PaymentTerms | undefined
  offers(endpoint: string, rail: string): Promise<readonly DollarOffer[]>
  /** Undefined if the service sells in the mint of this price now, and for a price in the service token. */
  whyOff(price: Price): Promise<string | undefined>
  /** Returns why the service accepts no new payment of this price. Undefined if it accepts the payment. */
  whyClosed(price: Price): Promise<string | undefined>
}

export interface DollarOffer {
  readonly terms: PaymentTerms
  readonly price: ListedPrice
}

export interface WithDollars {
  readonly terms: PaymentTerms
  /** Accepted dollar tokens. Absent: only the service token is accepted. */
  readonly dollars?: Dollars | undefined
}

/**
 * True if the service accepts dollars and the request is marked for other protocols only. The offers of this rail are
 * then left out, because two offers of each protocol do not fit into the buffers of proxies.
 */
export function isForOtherRail(
  { dollars }: WithDollars,
  { markedBy = [] }: Pick<Offer, 'markedBy'>,
  rail: string,
): boolean {
  return dollars !== undefined && markedBy.length > 0 && !markedBy.includes(rail)
}

export async function dollarOffers(
  { dollars }: WithDollars,
  { endpoint }: ListedPrice,
  rail: string,
): Promise<readonly DollarOffer[]> {
  return dollars === undefined ? [] : dollars.offers(endpoint, rail)
}

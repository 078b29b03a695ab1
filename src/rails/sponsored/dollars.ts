import type { Address } from '@tollbook/core/address'
import type { ListedPrice, Price } from '@tollbook/core/quote'
import type { Offer } from '../../paywall/rail.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'

/** The dollars that sponsored rails accept in addition to the service token. */
export interface Dollars {
  /** Returns the terms of a dollar, also while it is not offered. Undefined for any other mint. */
  termsOf(mint: Address): PaymentTerms | undefined
  /** Returns the prices of an endpoint in the dollars that a rail offers now. */
  offers(endpoint: string, rail: string): Promise<readonly DollarOffer[]>
  /** Returns why nothing is sold in the mint of this price now. Undefined for a price in the service token. */
  whyOff(price: Price): Promise<string | undefined>
  /** Returns why no new payment of this price is signed. */
  whyClosed(price: Price): Promise<string | undefined>
}

/** One dollar that pays for an endpoint, with its price. */
export interface DollarOffer {
  readonly terms: PaymentTerms
  readonly price: ListedPrice
}

export interface WithDollars {
  readonly terms: PaymentTerms
  /** Absent: only the service token is accepted. */
  readonly dollars?: Dollars | undefined
}

/**
 * True if the request marks another protocol. Two offers of each protocol do not fit into the buffers of proxies, so a
 * service that accepts dollars then makes only the offers of that protocol.
 */
export function isForOtherRail(
  { dollars }: WithDollars,
  { markedBy = [] }: Pick<Offer, 'markedBy'>,
  rail: string,
): boolean {
  return dollars !== undefined && markedBy.length > 0 && !markedBy.includes(rail)
}

/** Returns what the rail offers in dollars for the endpoint of a price. */
export async function dollarOffers(
  { dollars }: WithDollars,
  { endpoint }: ListedPrice,
  rail: string,
): Promise<readonly DollarOffer[]> {
  return dollars === undefined ? [] : dollars.offers(endpoint, rail)
}

import type { Price } from '@tollbook/core/quote'
import type { PriceListPublished } from '../payment/events/settingEvents.ts'
import type { Settlement } from '../payment/settlement.ts'
import { chargeOf, type MeteredPrice, type Usage } from '../pricing/meteredPrice.ts'
import { smallestSplit, split } from '../pricing/split.ts'
import type { SplitShare } from '../pricing/splitSetting.ts'
import { requiredBaseUnits } from '../pricing/tokenPrice.ts'

export interface MeteringDeps {
  /** Returns a recorded price list. Absent: every price is fixed. */
  readonly listNumber?: (priceList: number) => Promise<PriceListPublished | undefined>
}

/** The price by use of a debit, of the price list at which it was held. */
export interface Metering {
  readonly price: MeteredPrice
  readonly split: readonly SplitShare[]
}

/** Undefined for an order with a fixed price, and for every payment that cannot be charged less than it holds. */
export async function meteringOf(
  { listNumber }: MeteringDeps,
  { debit, price: { endpoint }, priceList }: Pick<Settlement, 'debit' | 'price' | 'priceList'>,
): Promise<Metering | undefined> {
  if (debit === undefined || priceList === undefined) return undefined
  const list = await listNumber?.(priceList)
  const price = list?.metered?.find((metered) => metered.endpoint === endpoint)
  return list === undefined || price === undefined ? undefined : { price, split: list.split }
}

type Divided = Pick<Price, 'requiredBaseUnits' | 'burnBaseUnits' | 'shares'>

/** Returns the cost of a usage: at most the hold, and at least an amount of which the burn leaves something. */
export function chargeWithin(hold: Price, { price, split: policy }: Metering, usage: Usage): Divided {
  const { tokenPriceAttoUsd, decimals } = hold
  const used = requiredBaseUnits({ priceMicroUsd: chargeOf(price, usage), tokenPriceAttoUsd, decimals })
  const least = smallestSplit(policy)
  const wanted = used > least ? used : least
  const charged = wanted < hold.requiredBaseUnits ? wanted : hold.requiredBaseUnits
  return { requiredBaseUnits: charged, ...split(charged, policy) }
}

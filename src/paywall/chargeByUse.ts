import { divideRoundingUp } from '@tollbook/core/money'
import type { ListedPrice, Price } from '@tollbook/core/quote'
import type { Address } from '@tollbook/core/address'
import type { Refusal } from '@tollbook/core/refusal'
import type { PriceListPublished } from '../payment/events/settingEvents.ts'
import type { Order } from '../payment/payment.ts'
import type { Settlement } from '../payment/settlement.ts'
import { isTabRefusal, refuseEmptyTab } from '../payment/tabRefusal.ts'
import { chargeOf, type MeteredPrice, outputWithin, type Usage } from '../pricing/meteredPrice.ts'
import { dollarSplit, smallestSplit, split } from '../pricing/split.ts'
import type { SplitShare } from '../pricing/splitSetting.ts'
import { microUsdWithin, requiredBaseUnits } from '../pricing/tokenPrice.ts'

export interface MeteringDeps {
  /** Returns a recorded price list. Absent: every price is fixed. */
  readonly listNumber?: (priceList: number) => Promise<PriceListPublished | undefined>
}

/** Price by use, from the price list at which the debit was held. */
export interface Metering {
  readonly price: MeteredPrice
  /** Split of the mint that pays. */
  readonly split: readonly SplitShare[]
}

/** Undefined for an order with a fixed price, and for every payment that cannot be charged less than it holds. */
export async function meteringOf(
  deps: MeteringDeps,
  { debit, price: { endpoint, mint }, priceList }: Pick<Settlement, 'debit' | 'price' | 'priceList'>,
): Promise<Metering | undefined> {
  return debit === undefined || priceList === undefined ? undefined : meteringAt(deps, { endpoint, mint, priceList })
}

export async function meteringAt(
  { listNumber }: MeteringDeps,
  { endpoint, mint, priceList }: Pick<ListedPrice, 'endpoint' | 'mint' | 'priceList'>,
): Promise<Metering | undefined> {
  const list = await listNumber?.(priceList)
  const price = list?.metered?.find((metered) => metered.endpoint === endpoint)
  return list === undefined || price === undefined ? undefined : { price, split: splitIn(list, mint) }
}

/** The split of a mint. The prices in the service token come first in a list. */
function splitIn({ prices: [first], split: ofToken, dollarSplits = [] }: PriceListPublished, mint: Address) {
  const own = dollarSplits.find((each) => each.mint === mint)?.split
  return own ?? (first?.mint === mint ? ofToken : dollarSplit(ofToken))
}

type Divided = Pick<Price, 'requiredBaseUnits' | 'burnBaseUnits' | 'shares' | 'tokenBurn'>

/** At most the hold, and at least an amount of which the burn leaves something. */
export function chargeWithin(hold: Price, { price, split: policy }: Metering, usage: Usage): Divided {
  const { tokenPriceAttoUsd, decimals } = hold
  const usedBaseUnits = requiredBaseUnits({ priceMicroUsd: chargeOf(price, usage), tokenPriceAttoUsd, decimals })
  const leastBaseUnits = smallestSplit(policy)
  const wantedBaseUnits = usedBaseUnits > leastBaseUnits ? usedBaseUnits : leastBaseUnits
  const chargedBaseUnits = wantedBaseUnits < hold.requiredBaseUnits ? wantedBaseUnits : hold.requiredBaseUnits
  return partOf(hold, chargedBaseUnits, policy)
}

/** Divides a part of a price. Its burn in the service token is in proportion, rounded up, so at most that of the price. */
function partOf(whole: Price, requiredBaseUnits: bigint, policy: readonly SplitShare[]): Divided {
  const { tokenBurn } = whole
  const divided = { requiredBaseUnits, ...split(requiredBaseUnits, policy) }
  if (tokenBurn === undefined) return divided
  const baseUnits = divideRoundingUp(tokenBurn.baseUnits * requiredBaseUnits, whole.requiredBaseUnits)
  return { ...divided, tokenBurn: { ...tokenBurn, baseUnits } }
}

/** Undefined if the burn would take all of the smaller hold. */
export function priceWithin(
  price: ListedPrice,
  { split: policy }: Metering,
  priceMicroUsd: bigint,
): ListedPrice | undefined {
  const { tokenPriceAttoUsd, decimals } = price
  const required = requiredBaseUnits({ priceMicroUsd, tokenPriceAttoUsd, decimals })
  if (required < smallestSplit(policy)) return undefined
  return { ...price, priceMicroUsd, ...partOf(price, required, policy) }
}

interface RefusedDebit {
  readonly order: Pick<Order, 'inputUnits'>
  readonly settlement: Pick<Settlement, 'debit' | 'price' | 'priceList'>
}

/** Adds what the balance pays for to the refusal of an order by use that the tab cannot hold. */
export async function explainShortage(
  deps: MeteringDeps,
  { order: { inputUnits: input }, settlement }: RefusedDebit,
  refusal: Refusal,
): Promise<Refusal> {
  const metering = isTabRefusal(refusal) ? await meteringOf(deps, settlement) : undefined
  if (!isTabRefusal(refusal) || metering === undefined || input === undefined) return refusal
  const { price } = settlement
  const { tab } = refusal
  const maxMicroUsd = microUsdWithin(tab.balanceBaseUnits, price)
  const output = outputWithin(metering.price, { input, budgetMicroUsd: maxMicroUsd }) ?? 0
  return refuseEmptyTab({ tab, price, balanceBaseUnits: tab.balanceBaseUnits, affordable: { maxMicroUsd, output } })
}

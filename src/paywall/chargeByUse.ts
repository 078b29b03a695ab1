import { divideRoundingUp, larger, smaller } from '@tollbook/core/money'
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

/** Values from one price list, so that a newer list does not change the amount that a debit pays. */
export interface Metering {
  readonly price: MeteredPrice
  readonly split: readonly SplitShare[]
}

/** Undefined unless a debit pays a price by use. A payment on the chain is signed before the use is known. */
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

/** The first price of each list is in the service token. */
function splitIn({ prices: [first], split: ofToken, dollarSplits = [] }: PriceListPublished, mint: Address) {
  const own = dollarSplits.find((each) => each.mint === mint)?.split
  return own ?? (first?.mint === mint ? ofToken : dollarSplit(ofToken))
}

type Divided = Pick<Price, 'requiredBaseUnits' | 'burnBaseUnits' | 'shares' | 'tokenBurn'>

/** Charges at least the smallest amount that leaves a share after the burn, but never more than the hold. */
export function chargeWithin(hold: Price, { price, split: policy }: Metering, usage: Usage): Divided {
  const { tokenPriceAttoUsd, decimals } = hold
  const usedBaseUnits = requiredBaseUnits({ priceMicroUsd: chargeOf(price, usage), tokenPriceAttoUsd, decimals })
  const leastBaseUnits = smallestSplit(policy)
  const wantedBaseUnits = larger(usedBaseUnits, leastBaseUnits)
  const chargedBaseUnits = smaller(wantedBaseUnits, hold.requiredBaseUnits)
  return partOf(hold, chargedBaseUnits, policy)
}

/** Rounds the token burn up, because the payer is promised at least this share. */
function partOf(whole: Price, requiredBaseUnits: bigint, policy: readonly SplitShare[]): Divided {
  const { tokenBurn } = whole
  const divided = { requiredBaseUnits, ...split(requiredBaseUnits, policy) }
  if (tokenBurn === undefined) return divided
  const baseUnits = divideRoundingUp(tokenBurn.baseUnits * requiredBaseUnits, whole.requiredBaseUnits)
  return { ...divided, tokenBurn: { ...tokenBurn, baseUnits } }
}

/** Undefined if the burn would take all of the hold. */
export function priceWithin(
  price: ListedPrice,
  { split: policy }: Metering,
  priceMicroUsd: bigint,
): ListedPrice | undefined {
  const { tokenPriceAttoUsd, decimals } = price
  const neededBaseUnits = requiredBaseUnits({ priceMicroUsd, tokenPriceAttoUsd, decimals })
  if (neededBaseUnits < smallestSplit(policy)) return undefined
  return { ...price, priceMicroUsd, ...partOf(price, neededBaseUnits, policy) }
}

interface RefusedDebit {
  readonly order: Pick<Order, 'inputUnits'>
  readonly settlement: Pick<Settlement, 'price'>
}

/**
 * For an order with a price by use, adds the budget and the output that the balance covers, so that the caller can send
 * a smaller order.
 */
export function explainShortage(
  metering: Metering | undefined,
  { order: { inputUnits: input }, settlement: { price } }: RefusedDebit,
  refusal: Refusal,
): Refusal {
  if (!isTabRefusal(refusal) || metering === undefined || input === undefined) return refusal
  const { tab } = refusal
  const maxMicroUsd = microUsdWithin(tab.balanceBaseUnits, price)
  const output = outputWithin(metering.price, { input, budgetMicroUsd: maxMicroUsd }) ?? 0
  return refuseEmptyTab({ tab, price, balanceBaseUnits: tab.balanceBaseUnits, affordable: { maxMicroUsd, output } })
}

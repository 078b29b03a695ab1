import { formatDecimal } from '@tollbook/core/money'
import type { ListedPrice } from '@tollbook/core/quote'
import { type Refusal, refuseProof } from '@tollbook/core/refusal'
import { maxUsdHeader } from '@tollbook/core/tab'
import type { Order } from '../../payment/payment.ts'
import { meteringAt, type MeteringDeps, priceWithin } from '../../paywall/chargeByUse.ts'
import { chargeOf } from '../../pricing/meteredPrice.ts'
import { usdDecimals } from '../../pricing/priceList.ts'
import { microUsdWithin } from '../../pricing/tokenPrice.ts'

/** Bounds on the amount that a debit may hold. An undefined bound does not apply. */
export interface DebitBounds {
  readonly signedBaseUnits: bigint | undefined
  readonly tabBaseUnits: bigint
  /** Value of `tab-max-usd`, in millionths of a US dollar. */
  readonly maxMicroUsd: bigint | undefined
}

interface HoldQuestion {
  readonly order: Pick<Order, 'inputUnits'>
  readonly price: ListedPrice
  readonly bounds: DebitBounds
}

/**
 * Returns the price that a debit holds: the listed price, or less if a bound is below it. The hold can only be reduced
 * to the bound if the price is by use and the service can end the answer there. Otherwise the debit is refused.
 */
export async function holdWithin(deps: MeteringDeps, question: HoldQuestion): Promise<ListedPrice | Refusal> {
  const { order, price } = question
  const bound = smallestBound(question)
  if (bound.microUsd >= price.priceMicroUsd) return price
  const refuse = (cost: string) => refuseProof('tab_limit', `it costs ${cost}, and ${bound.text}`)
  const metering = await meteringAt(deps, price)
  if (metering === undefined || order.inputUnits === undefined) return refuse(`${usd(price.priceMicroUsd)} USD`)
  const leastMicroUsd = chargeOf(metering.price, { input: order.inputUnits, output: 1 })
  const held = bound.microUsd < leastMicroUsd ? undefined : priceWithin(price, metering, bound.microUsd)
  return held ?? refuse(`at least ${usd(leastMicroUsd)} USD by use`)
}

interface Bound {
  readonly microUsd: bigint
  readonly text: string
}

function smallestBound({ price, bounds }: HoldQuestion): Bound {
  const { signedBaseUnits, tabBaseUnits, maxMicroUsd } = bounds
  const of = (baseUnits: bigint, what: string): Bound => {
    const microUsd = microUsdWithin(baseUnits, price)
    return { microUsd, text: `${what} ${usd(microUsd)} USD (${baseUnits} base units)` }
  }
  const known = [
    of(tabBaseUnits, 'the tab permits per request'),
    ...(signedBaseUnits === undefined ? [] : [of(signedBaseUnits, 'the debit permits')]),
    ...(maxMicroUsd === undefined
      ? []
      : [{ microUsd: maxMicroUsd, text: `${maxUsdHeader} permits ${usd(maxMicroUsd)} USD` }]),
  ]
  return known.reduce((least, one) => (one.microUsd < least.microUsd ? one : least))
}

const usd = (microUsd: bigint) => formatDecimal(microUsd, usdDecimals)

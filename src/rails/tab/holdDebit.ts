import { formatDecimal } from '@tollbook/core/money'
import type { ListedPrice } from '@tollbook/core/quote'
import { type Refusal, refuseProof } from '@tollbook/core/refusal'
import { maxUsdHeader } from '@tollbook/core/tab'
import type { Order } from '../../payment/payment.ts'
import { meteringAt, type MeteringDeps, priceWithin } from '../../paywall/chargeByUse.ts'
import { chargeOf } from '../../pricing/meteredPrice.ts'
import { usdDecimals } from '../../pricing/priceList.ts'
import { microUsdWithin } from '../../pricing/tokenPrice.ts'

/** The most that a debit may hold, as its payer states it. Undefined: not stated. */
export interface DebitBounds {
  readonly signedBaseUnits: bigint | undefined
  readonly tabBaseUnits: bigint
  /** `tab-max-usd`. */
  readonly maxMicroUsd: bigint | undefined
}

interface HoldQuestion {
  readonly order: Pick<Order, 'inputUnits'>
  readonly price: ListedPrice
  readonly bounds: DebitBounds
}

/**
 * Returns the price that a debit holds: that of the list, or the smallest bound of its payer, if an answer that is paid
 * by use can end there.
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

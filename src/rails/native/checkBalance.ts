import type { Clock } from '@tollbook/core/clock'
import type { ChainReader } from '../../payment/chainReader.ts'
import type { Order } from '../../payment/payment.ts'
import { isRefusal, type Refusal, refuse } from '@tollbook/core/refusal'
import { choosePrice, landingNow, type PriceDeps } from './choosePrice.ts'

export interface BalanceDeps extends PriceDeps {
  readonly clock: Clock
  readonly chain: ChainReader
}

/**
 * When a payment is not there, or would fail: could the wallet pay at all? If it could not, that is the better answer. The
 * cheapest quote that it could still pay is the measure, not what a new quote would ask.
 */
export async function findShortage(deps: BalanceDeps, order: Order): Promise<Refusal | undefined> {
  const chosen = await choosePrice(deps, { order, memo: undefined, ...landingNow(deps.clock) })
  if (isRefusal(chosen)) return chosen
  const { requiredBaseUnits } = chosen.price
  const balanceBaseUnits = await deps.chain.balanceBaseUnits(order.wallet)
  if (balanceBaseUnits >= requiredBaseUnits) return undefined
  return refuse(
    'INSUFFICIENT_BALANCE',
    `the wallet holds ${balanceBaseUnits} base units of the token, fewer than the ${requiredBaseUnits} required, and has not paid`,
  )
}

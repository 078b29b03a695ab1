import type { ChainReader } from '../payment/chainReader.ts'
import type { Order } from '../payment/payment.ts'
import { type Refusal, refuse } from '../payment/refusal.ts'
import type { PriceDeps } from './choosePrice.ts'

export interface BalanceDeps extends PriceDeps {
  readonly chain: ChainReader
}

/** When a payment is not there, or would fail: could the wallet pay at all? If it could not, that is the better answer. */
export async function findShortage({ chain, currentPrice }: BalanceDeps, order: Order): Promise<Refusal | undefined> {
  const price = currentPrice(order.endpoint)
  if (price === undefined) return undefined
  const balanceBaseUnits = await chain.balanceBaseUnits(order.wallet)
  if (balanceBaseUnits >= price.requiredBaseUnits) return undefined
  return refuse(
    'INSUFFICIENT_BALANCE',
    `the wallet holds ${balanceBaseUnits} base units of the token, fewer than the ${price.requiredBaseUnits} required, and has not paid`,
  )
}

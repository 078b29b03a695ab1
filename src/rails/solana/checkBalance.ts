import { formatDecimal } from '@tollbook/core/money'
import type { Clock } from '@tollbook/core/clock'
import type { Address } from '@tollbook/core/address'
import type { Balance, ChainReader } from '../../payment/chainReader.ts'
import type { Order } from '../../payment/payment.ts'
import { isRefusal, type Refusal, refuse } from '@tollbook/core/refusal'
import { landingNow, type PriceRule } from './choosePrice.ts'

export interface BalanceDeps extends PriceRule {
  readonly clock: Clock
  readonly chain: ChainReader
}

/** A wallet that could not pay, in the state of this slot. */
export interface Shortage extends Balance {
  readonly requiredBaseUnits: bigint
  readonly decimals: number
}

/**
 * Short in the finalized state too: a payment of the last seconds empties the wallet in the newest state, and a node may
 * know the balance before it can find the transaction.
 */
export async function wasShortBefore(
  { chain }: BalanceDeps,
  wallet: Address,
  { requiredBaseUnits }: Shortage,
): Promise<boolean> {
  const final = await chain.readBalance({ wallet, enoughBaseUnits: requiredBaseUnits, commitment: 'finalized' })
  return final.isAgreed && final.baseUnits < requiredBaseUnits
}

/**
 * When a payment is not there, or would fail: could the wallet pay at all? If it could not, that is the better answer. The
 * cheapest quote that it could still pay is the measure, not what a new quote would ask.
 */
export async function findShortage(
  deps: BalanceDeps,
  order: Order,
  minSlot?: number,
): Promise<Shortage | Refusal | undefined> {
  const chosen = await deps.choosePrice({ order, memo: undefined, ...landingNow(deps.clock) })
  if (isRefusal(chosen)) return chosen
  const { requiredBaseUnits, decimals } = chosen.price
  const { wallet } = order
  const state = minSlot === undefined ? {} : { minSlot }
  const balance = await deps.chain.readBalance({ wallet, enoughBaseUnits: requiredBaseUnits, ...state })
  const isShort = balance.isAgreed && balance.baseUnits < requiredBaseUnits
  return isShort ? { ...balance, requiredBaseUnits, decimals } : undefined
}

/** Said only when the payment was looked for in the state of the balance, or in a later one, and was not there. */
export function refuseShortage({ baseUnits, requiredBaseUnits, decimals, slot }: Shortage): Refusal {
  const [has, needs] = [baseUnits, requiredBaseUnits].map((amount) => formatDecimal(amount, decimals))
  return refuse(
    'INSUFFICIENT_BALANCE',
    `the wallet has ${has} of ${needs} tokens (at slot ${slot}), and no node has its payment; if you have sent one, repeat with the same proof`,
  )
}

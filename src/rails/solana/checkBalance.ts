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

export interface Shortage extends Balance {
  readonly requiredBaseUnits: bigint
  readonly decimals: number
}

/**
 * True if the finalized balance is too small as well. The newest state is not enough: a recent payment may itself have
 * emptied the wallet, and a node may show the empty balance before it shows that payment.
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
 * Returns the shortage of a wallet whose payment is missing or would fail, or the refusal if no price applies.
 * Undefined if the wallet can pay, or the nodes do not agree. The required amount is that of the cheapest quote that
 * the wallet can still pay, if there is one.
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

/** Call this function only after a search for the payment in the state of `slot`, or a later one, found nothing. */
export function refuseShortage({ baseUnits, requiredBaseUnits, decimals, slot }: Shortage): Refusal {
  const [has, needs] = [baseUnits, requiredBaseUnits].map((amount) => formatDecimal(amount, decimals))
  return refuse(
    'INSUFFICIENT_BALANCE',
    `the wallet has ${has} of ${needs} tokens (at slot ${slot}), and no node has its payment; if you have sent one, repeat with the same proof`,
  )
}

import { assert } from '@tollbook/core/assert'
import { formatDecimal } from '@tollbook/core/money'
import type { Price } from '@tollbook/core/quote'
import { type Refusal, refuse } from '@tollbook/core/refusal'
import { maxUsdHeader } from '@tollbook/core/tab'
import type { Tab } from './tab.ts'

export interface TabRefusal extends Refusal {
  readonly tab: {
    readonly id: string
    readonly neededBaseUnits: bigint
    readonly balanceBaseUnits: bigint
    /** Absent for an order with a fixed price. */
    readonly affordable?: Affordable
  }
}

export interface Affordable {
  readonly maxMicroUsd: bigint
  readonly output: number
}

export function isTabRefusal(refusal: Refusal): refusal is TabRefusal {
  return 'tab' in refusal
}

interface EmptyTab {
  readonly tab: Pick<Tab, 'id'>
  readonly price: Price
  readonly balanceBaseUnits: bigint
  readonly affordable?: Affordable | undefined
}

const usdDecimals = 6

/**
 * Refuses a request that the tab cannot pay. The refusal has the amounts, so that the caller can top the tab up or send
 * a cheaper request.
 */
export function refuseEmptyTab({ tab, price, balanceBaseUnits, affordable }: EmptyTab): TabRefusal {
  assert(balanceBaseUnits >= 0n, 'a tab is never overdrawn')
  const { requiredBaseUnits: neededBaseUnits, decimals } = price
  const [needed, balance] = [neededBaseUnits, balanceBaseUnits].map((amount) => formatDecimal(amount, decimals))
  const less =
    affordable === undefined || affordable.output === 0
      ? ''
      : `send ${maxUsdHeader}: ${formatDecimal(affordable.maxMicroUsd, usdDecimals)}, which pays for ${affordable.output} units of output, or `
  const message = `the request needs ${needed} tokens, and the tab has ${balance}; ${less}top it up, and repeat with a new number`
  return {
    ...refuse('INSUFFICIENT_BALANCE', message),
    tab: { id: tab.id, neededBaseUnits, balanceBaseUnits, ...(affordable === undefined ? {} : { affordable }) },
  }
}

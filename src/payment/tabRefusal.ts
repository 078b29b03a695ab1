import { formatDecimal } from '@tollbook/core/money'
import type { Price } from '@tollbook/core/quote'
import { type Refusal, refuse } from '@tollbook/core/refusal'
import type { Tab } from './tab.ts'

/** A refusal of a debit with its amounts, which the rail adds to the body. */
export interface TabRefusal extends Refusal {
  readonly tab: { readonly id: string; readonly neededBaseUnits: bigint; readonly balanceBaseUnits: bigint }
}

export function isTabRefusal(refusal: Refusal): refusal is TabRefusal {
  return 'tab' in refusal
}

interface EmptyTab {
  readonly tab: Pick<Tab, 'id'>
  readonly price: Price
  readonly balanceBaseUnits: bigint
}

/** The tab holds less than the request may cost. The caller tops it up, or sends a cheaper request. */
export function refuseEmptyTab({ tab, price, balanceBaseUnits }: EmptyTab): TabRefusal {
  const { requiredBaseUnits: neededBaseUnits, decimals } = price
  const [needed, balance] = [neededBaseUnits, balanceBaseUnits].map((amount) => formatDecimal(amount, decimals))
  const message = `the request needs ${needed} tokens, and the tab has ${balance}; top it up, and repeat with a new number`
  return { ...refuse('INSUFFICIENT_BALANCE', message), tab: { id: tab.id, neededBaseUnits, balanceBaseUnits } }
}

import { assert } from '@tollbook/core/assert'
import type { Price } from '@tollbook/core/quote'
import { chainName } from '@tollbook/core/networks'
import { depositAccount } from '@tollbook/core/tab'
import type { TabCaptured, TabDebited } from './events/tabEvents.ts'
import type { BurnOwed } from './events/verificationEvents.ts'
import { tabRequestReference } from './paymentReference.ts'
import type { DebitFacts, Settlement } from './settlement.ts'

export type DebitSettlement = Settlement & { readonly debit: DebitFacts }

export function isDebit(settlement: Settlement): settlement is DebitSettlement {
  return settlement.debit !== undefined
}

export function settlementOfDebit(event: TabDebited): DebitSettlement {
  const { tab, number, deposit, signed, bearerHash, lifecycle, orderDigest } = event
  const { slot, blockTimeMs, wallet, price, priceList } = event
  assert((signed === undefined) !== (bearerHash === undefined), 'one key of the tab signed the debit')
  return {
    reference: tabRequestReference(tab, number),
    wallet,
    price,
    priceList,
    quoteId: undefined,
    memo: undefined,
    burnedBaseUnits: 0n,
    receivedBaseUnits: price.requiredBaseUnits,
    evidence: { kind: chainName, slot, blockTimeMs, transactionBase64: undefined },
    debit: { tab, number, deposit, signed, bearerHash, lifecycle, orderDigest },
  }
}

export function chargedBy(
  settlement: Settlement,
  { burnBaseUnits, shares, usage }: Pick<TabCaptured, 'burnBaseUnits' | 'shares' | 'usage'>,
): Settlement {
  const requiredBaseUnits = shares.reduce((sum, { baseUnits }) => sum + baseUnits, burnBaseUnits)
  assert(requiredBaseUnits <= settlement.price.requiredBaseUnits, 'no more is charged than was held')
  const price = { ...settlement.price, burnBaseUnits, shares, requiredBaseUnits }
  return { ...settlement, price, ...(usage === undefined ? {} : { usage }) }
}

/**
 * Adds an owed burn to the settlement of a debit, whose charge does not contain it. A payment on the chain is
 * unchanged, because its price already contains the burn.
 */
export function owingBurn(settlement: Settlement, { mint, owedBaseUnits: baseUnits }: BurnOwed): Settlement {
  if (!isDebit(settlement)) return settlement
  return { ...settlement, price: { ...settlement.price, tokenBurn: { mint, baseUnits } } }
}

export const depositSplit = [
  { account: 'burn', perMille: 0 },
  { account: depositAccount, perMille: 1000 },
] as const

/** True for the price of a deposit. Nothing of a deposit is burned or shared until the tab spends it. */
export function isDepositPrice({ shares }: Pick<Price, 'shares'>): boolean {
  return shares.length === 1 && shares[0]?.account === depositAccount
}

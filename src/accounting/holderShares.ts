import { assert } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import { divideRoundingDown } from '@tollbook/core/money'

export interface Holder {
  readonly wallet: Address
  readonly balanceBaseUnits: bigint
}

/** `baseUnits` is rounded so that all shares add up to the divided amount. */
export interface HolderShare {
  readonly wallet: Address
  readonly baseUnits: bigint
}

/**
 * Shares are rounded down. The remaining base units go, one each, to the largest fractions, and of equal fractions to
 * the lower address. Holders whose share is 0 are left out. The audit derives the same shares with separate code.
 */
export function divideAmongHolders(amountBaseUnits: bigint, holders: readonly Holder[]): readonly HolderShare[] {
  assert(amountBaseUnits > 0n, 'an amount is divided')
  const totalBaseUnits = holders.reduce((sum, { balanceBaseUnits }) => sum + balanceBaseUnits, 0n)
  assert(
    totalBaseUnits > 0n && holders.every(({ balanceBaseUnits }) => balanceBaseUnits > 0n),
    'each holder holds something',
  )
  assert(new Set(holders.map(({ wallet }) => wallet)).size === holders.length, 'each wallet is one holder')
  const exact = holders.map(({ wallet, balanceBaseUnits }) => {
    const product = amountBaseUnits * balanceBaseUnits
    return { wallet, baseUnits: divideRoundingDown(product, totalBaseUnits), fraction: product % totalBaseUnits }
  })
  const remainder = Number(amountBaseUnits - exact.reduce((sum, { baseUnits }) => sum + baseUnits, 0n))
  assert(remainder >= 0 && remainder < holders.length, 'less than one base unit a holder remains')
  const rounded = exact
    .toSorted((one, other) => compare(other.fraction, one.fraction) || compare(one.wallet, other.wallet))
    .map(({ wallet, baseUnits }, rank) => ({ wallet, baseUnits: rank < remainder ? baseUnits + 1n : baseUnits }))
  const shares = rounded
    .filter(({ baseUnits }) => baseUnits > 0n)
    .toSorted((one, other) => compare(one.wallet, other.wallet))
  assert(shares.reduce((sum, { baseUnits }) => sum + baseUnits, 0n) === amountBaseUnits, 'the shares sum to the amount')
  return shares
}

/** Compares texts by their UTF-16 code units. */
export function compare<T extends bigint | string>(one: T, other: T): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

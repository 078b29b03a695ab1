import { assert, assertPresent } from '@tollbook/core/assert'
import { divideRoundingDown, divideRoundingUp } from '@tollbook/core/money'
import type { Price } from '@tollbook/core/quote'
import { burnAccount, burnPerMilleOf, type SplitShare } from './splitSetting.ts'

export type DividedPrice = Pick<Price, 'burnBaseUnits' | 'shares'>

const wholePerMille = 1_000n

/** A smaller amount cannot be split: the burn is rounded up, so it would take all of it. */
export function smallestSplit(policy: readonly SplitShare[]): bigint {
  const burnPerMille = BigInt(burnPerMilleOf(policy))
  assert(burnPerMille < wholePerMille, 'a split has an account besides the burn')
  return divideRoundingUp(wholePerMille, wholePerMille - burnPerMille)
}

const treasuryAccount = 'treasury'

/** Dollars are not burned, so the treasury, which delivers the tokens for the burn, also gets the share of the burn. */
export function dollarSplit(policy: readonly SplitShare[]): readonly SplitShare[] {
  const burnPerMille = burnPerMilleOf(policy)
  const others = policy.filter(({ account }) => account !== burnAccount)
  const isTreasury = ({ account }: SplitShare) => account === treasuryAccount
  if (!others.some(isTreasury)) return [...others, { account: treasuryAccount, perMille: burnPerMille }]
  return others.map((share) => (isTreasury(share) ? { ...share, perMille: share.perMille + burnPerMille } : share))
}

/**
 * No base unit is lost or added (I18). The burn is rounded up, because callers are promised at least its percentage.
 * The first account other than the burn gets the remainder.
 */
export function split(requiredBaseUnits: bigint, policy: readonly SplitShare[]): DividedPrice {
  assert(requiredBaseUnits > 0n, 'a request costs at least one base unit')
  assert(
    policy.reduce((sum, { perMille }) => sum + perMille, 0) === Number(wholePerMille),
    'the shares of a split add up to the whole payment',
  )
  const burnBaseUnits = divideRoundingUp(requiredBaseUnits * BigInt(burnPerMilleOf(policy)), wholePerMille)
  const accounts = policy.filter(({ account }) => account !== burnAccount)
  const rounded = accounts.map(({ account, perMille }) => ({
    account,
    baseUnits: divideRoundingDown(requiredBaseUnits * BigInt(perMille), wholePerMille),
  }))
  const [first, ...others] = rounded
  const { account } = assertPresent(first, 'a split has an account besides the burn')
  // The remainder is never negative, because the burn exceeds its exact share by less than one base unit.
  const restBaseUnits = others.reduce((left, { baseUnits }) => left - baseUnits, requiredBaseUnits - burnBaseUnits)
  assert(restBaseUnits >= 0n, 'the shares never add up to more than what is divided')
  return { burnBaseUnits, shares: [{ account, baseUnits: restBaseUnits }, ...others] }
}

import { assert, assertPresent } from '@tollbook/core/assert'
import { divideRoundingDown, divideRoundingUp } from '@tollbook/core/money'
import type { Share } from '@tollbook/core/quote'
import type { SplitShare } from './splitSetting.ts'

/** An amount divided by a split: the burn, and the shares in the order of the split. */
export interface DividedPrice {
  readonly burnBaseUnits: bigint
  readonly shares: readonly Share[]
}

const wholePerMille = 1_000n
const burnAccount = 'burn'

/** The smallest amount of which the burn, which is rounded up, does not take all. */
export function smallestSplit(policy: readonly SplitShare[]): bigint {
  const burnPerMille = BigInt(policy.find(({ account }) => account === burnAccount)?.perMille ?? 0)
  assert(burnPerMille < wholePerMille, 'a split has an account besides the burn')
  return divideRoundingUp(wholePerMille, wholePerMille - burnPerMille)
}

/**
 * Divides what is required without losing or making a base unit: the burn is rounded up, because its percentage is
 * promised; the shares are rounded down; the first account that is not the burn takes the rest (I18).
 */
export function split(requiredBaseUnits: bigint, policy: readonly SplitShare[]): DividedPrice {
  assert(requiredBaseUnits > 0n, 'a request costs at least one base unit')
  assert(
    policy.reduce((sum, { perMille }) => sum + perMille, 0) === Number(wholePerMille),
    'the shares of a split add up to the whole payment',
  )
  const burn = assertPresent(
    policy.find(({ account }) => account === burnAccount),
    'a split has a share for the burn',
  )
  const burnBaseUnits = divideRoundingUp(requiredBaseUnits * BigInt(burn.perMille), wholePerMille)
  const accounts = policy.filter(({ account }) => account !== burnAccount)
  const rounded = accounts.map(({ account, perMille }) => ({
    account,
    baseUnits: divideRoundingDown(requiredBaseUnits * BigInt(perMille), wholePerMille),
  }))
  const [first, ...others] = rounded
  const { account } = assertPresent(first, 'a split has an account besides the burn')
  // The burn is less than one base unit more than its share, and the first share is positive: the rest is never negative.
  const rest = others.reduce((left, { baseUnits }) => left - baseUnits, requiredBaseUnits - burnBaseUnits)
  assert(rest >= 0n, 'the shares never add up to more than what is divided')
  return { burnBaseUnits, shares: [{ account, baseUnits: rest }, ...others] }
}

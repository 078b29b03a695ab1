import { assert } from '@tollbook/core/assert'
import { divideRoundingDown, divideRoundingUp } from '@tollbook/core/money'

/** The shares of each payment (specification, section 5.2). Changing one is a new policy, never an edit. */
export const shares = { burn: 30n, provider: 50n, holders: 15n, treasury: 5n } as const

export interface Split {
  readonly burnBaseUnits: bigint
  readonly providerBaseUnits: bigint
  readonly holdersBaseUnits: bigint
  readonly treasuryBaseUnits: bigint
}

/**
 * Divides what is required without losing or making a base unit: the burn is rounded up, because 30 % is
 * promised; holders and treasury are rounded down; the provider takes the rest (I18).
 */
export function split(requiredBaseUnits: bigint): Split {
  assert(requiredBaseUnits > 0n, 'a request costs at least one base unit')
  const burnBaseUnits = divideRoundingUp(requiredBaseUnits * shares.burn, 100n)
  const holdersBaseUnits = divideRoundingDown(requiredBaseUnits * shares.holders, 100n)
  const treasuryBaseUnits = divideRoundingDown(requiredBaseUnits * shares.treasury, 100n)
  const providerBaseUnits = requiredBaseUnits - burnBaseUnits - holdersBaseUnits - treasuryBaseUnits
  assert(providerBaseUnits >= 0n, 'the shares never add up to more than what is divided')
  return { burnBaseUnits, providerBaseUnits, holdersBaseUnits, treasuryBaseUnits }
}

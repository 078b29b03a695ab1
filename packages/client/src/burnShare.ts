import { divideRoundingUp } from '@tollbook/core/money'

/** The share of each payment that is burned (specification, section 5.2), rounded up because it is promised. */
export const burnSharePercent = 30n

export function burnShareOf(requiredBaseUnits: bigint): bigint {
  return divideRoundingUp(requiredBaseUnits * burnSharePercent, 100n)
}

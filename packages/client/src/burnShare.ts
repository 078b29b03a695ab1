import { divideRoundingUp, parseDecimal } from '@tollbook/core/money'

const whole = 1_000n

/** The burned part of an amount, rounded up because its percentage is promised. */
export function burnShareOf(requiredBaseUnits: bigint, perMille: bigint): bigint {
  return divideRoundingUp(requiredBaseUnits * perMille, whole)
}

/**
 * The burn that a 402 announces, in parts of a thousand. Undefined when its distribution is not a list of percentages with
 * at most one digit after the point that adds up to 100 %, or when `burnInfo` says something else.
 */
export function announcedBurnPerMille({
  distribution,
  burnInfo,
}: {
  readonly distribution: Readonly<Record<string, string>>
  readonly burnInfo: { readonly percentage: number }
}): bigint | undefined {
  const shares = Object.values(distribution).map(perMilleOf)
  const sum = shares.reduce<bigint>((total, share) => total + (share ?? whole + 1n), 0n)
  const burn = perMilleOf(distribution['burn'] ?? '')
  return sum === whole && burn === perMilleOf(`${burnInfo.percentage}%`) ? burn : undefined
}

/** Whether an amount is exactly the burn of some split. A receipt does not name the split that it was made under. */
export function isBurnShare(requiredBaseUnits: bigint, burnBaseUnits: bigint): boolean {
  if (requiredBaseUnits <= 0n || burnBaseUnits <= 0n || burnBaseUnits > requiredBaseUnits) return false
  // The largest share that does not burn more; smaller shares burn no more than this one.
  const perMille = (burnBaseUnits * whole) / requiredBaseUnits
  return burnShareOf(requiredBaseUnits, perMille) === burnBaseUnits
}

function perMilleOf(percentText: string): bigint | undefined {
  return percentText.endsWith('%') ? parseDecimal(percentText.slice(0, -1), 1) : undefined
}

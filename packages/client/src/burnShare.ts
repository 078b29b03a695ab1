import { divideRoundingUp, parseDecimal } from '@tollbook/core/money'

export const wholePerMille = 1_000n
/** Burn of each payment by section 5.2 of the specification. */
export const specifiedBurnPercent = 30

/** The burned part of an amount, rounded up because its percentage is promised. */
export function burnShareOf(requiredBaseUnits: bigint, perMille: bigint): bigint {
  return divideRoundingUp(requiredBaseUnits * perMille, wholePerMille)
}

/**
 * The burn that a 402 announces, in parts of a thousand. Undefined when its distribution is not a list of percentages
 * with at most one digit after the point that adds up to 100 %, or when `burnInfo` says something else.
 */
export function announcedBurnPerMille({
  distribution,
  burnInfo,
}: {
  readonly distribution: Readonly<Record<string, string>>
  readonly burnInfo: { readonly percentage: number }
}): bigint | undefined {
  const shares = Object.values(distribution).map(perMilleOf)
  const sum = shares.reduce<bigint>((total, share) => total + (share ?? wholePerMille + 1n), 0n)
  const burn = perMilleOf(distribution['burn'] ?? '')
  return sum === wholePerMille && burn === perMilleOf(`${burnInfo.percentage}%`) ? burn : undefined
}

/** Undefined for anything but a percentage with at most one digit after the point. */
export function perMilleOf(percentText: string): bigint | undefined {
  return percentText.endsWith('%') ? parseDecimal(percentText.slice(0, -1), 1) : undefined
}

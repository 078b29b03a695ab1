import { divideRoundingUp, parseDecimal } from '@tollbook/core/money'

export const wholePerMille = 1_000n
/** Burn of each payment in percent, by section 5.2 of the specification. */
export const specifiedBurnPercent = 30

/** Rounds up, because the payer is promised at least this share. */
export function burnShareOf(requiredBaseUnits: bigint, perMille: bigint): bigint {
  return divideRoundingUp(requiredBaseUnits * perMille, wholePerMille)
}

/**
 * Returns the burn that a 402 response announces, in parts of a thousand. Undefined if `burnInfo` has another burn, or
 * if `distribution` does not add up to 100 %. Each share must be a percentage with at most one digit after the point.
 */
export function announcedBurnPerMille({
  distribution,
  burnInfo,
}: {
  readonly distribution: Readonly<Record<string, string>>
  readonly burnInfo: { readonly percentage: number }
}): bigint | undefined {
  const shares = Object.values(distribution).map(perMilleOf)
  const sumPerMille = shares.reduce<bigint>((total, share) => total + (share ?? wholePerMille + 1n), 0n)
  const burnPerMille = perMilleOf(distribution['burn'] ?? '')
  return sumPerMille === wholePerMille && burnPerMille === perMilleOf(`${burnInfo.percentage}%`)
    ? burnPerMille
    : undefined
}

/**
 * Reads parts of a thousand from text such as `2.5%`. Undefined for other text, for example with two digits after the
 * point.
 */
export function perMilleOf(percentText: string): bigint | undefined {
  return percentText.endsWith('%') ? parseDecimal(percentText.slice(0, -1), 1) : undefined
}

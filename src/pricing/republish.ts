import { isWithin } from './agreement.ts'
import type { TokenPriceAttoUsd } from './tokenPrice.ts'

export interface RepublishQuestion {
  readonly listedAttoUsd: TokenPriceAttoUsd
  readonly listedAgeMs: number
  readonly marketAttoUsd: TokenPriceAttoUsd
  readonly tolerancePercent: number
}

// Smaller differences, in parts per thousand, are noise, because the markets are polled in different seconds.
const noisePerMille = 5n
const settledMs = 60_000

/**
 * A list of the last minute, from any instance, stays valid within the tolerance, so that instances with slightly
 * different markets do not replace each other's lists.
 */
export function isWorthPublishing(question: RepublishQuestion): boolean {
  const { listedAttoUsd, listedAgeMs, marketAttoUsd, tolerancePercent } = question
  const distanceAttoUsd = marketAttoUsd > listedAttoUsd ? marketAttoUsd - listedAttoUsd : listedAttoUsd - marketAttoUsd
  if (distanceAttoUsd * 1_000n <= listedAttoUsd * noisePerMille) return false
  return listedAgeMs >= settledMs || !isWithin(marketAttoUsd, listedAttoUsd, tolerancePercent)
}

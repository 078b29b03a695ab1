import { isWithin } from './agreement.ts'
import type { TokenPriceAttoUsd } from './tokenPrice.ts'

export interface RepublishQuestion {
  /** Token price of the newest recorded list. */
  readonly listedAttoUsd: TokenPriceAttoUsd
  readonly listedAgeMs: number
  readonly marketAttoUsd: TokenPriceAttoUsd
  readonly tolerancePercent: number
}

// Minimum difference for a new list, in parts per thousand. Smaller differences are noise, because the markets are
// polled in different seconds.
const noisePerMille = 5n
const settledMs = 60_000

/**
 * True if the market has moved so far from the recorded list that a new list is necessary. A list of the last minute,
 * from any instance, stays valid while it is within the tolerance. Two instances with slightly different markets
 * therefore do not replace each other's lists. The ledger gets at most one list a minute, except for moves that callers
 * would notice.
 */
export function isWorthPublishing(question: RepublishQuestion): boolean {
  const { listedAttoUsd, listedAgeMs, marketAttoUsd, tolerancePercent } = question
  const distanceAttoUsd = marketAttoUsd > listedAttoUsd ? marketAttoUsd - listedAttoUsd : listedAttoUsd - marketAttoUsd
  if (distanceAttoUsd * 1_000n <= listedAttoUsd * noisePerMille) return false
  return listedAgeMs >= settledMs || !isWithin(marketAttoUsd, listedAttoUsd, tolerancePercent)
}

import { isWithin } from './agreement.ts'
import type { TokenPriceAttoUsd } from './tokenPrice.ts'

export interface RepublishQuestion {
  /** Token price of the newest list on record. */
  readonly listedAttoUsd: TokenPriceAttoUsd
  readonly listedAgeMs: number
  readonly marketAttoUsd: TokenPriceAttoUsd
  readonly tolerancePercent: number
}

// Smaller differences are noise of three polls in different seconds; in parts of a thousand.
const noisePerMille = 5n
const settledMs = 60_000

/**
 * Whether the market has moved away from the recorded list. A list of the last minute, of any instance, stays while it
 * is within the tolerance, so that two instances with slightly different markets do not alternate. The ledger therefore
 * gets one list a minute at most, except for moves that callers would notice.
 */
export function isWorthPublishing(question: RepublishQuestion): boolean {
  const { listedAttoUsd, listedAgeMs, marketAttoUsd, tolerancePercent } = question
  const distance = marketAttoUsd > listedAttoUsd ? marketAttoUsd - listedAttoUsd : listedAttoUsd - marketAttoUsd
  if (distance * 1_000n <= listedAttoUsd * noisePerMille) return false
  return listedAgeMs >= settledMs || !isWithin(marketAttoUsd, listedAttoUsd, tolerancePercent)
}

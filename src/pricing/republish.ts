import { isWithin } from './agreement.ts'
import type { TokenPriceAttoUsd } from './tokenPrice.ts'

/** The price on record against the price of the markets. */
export interface RepublishQuestion {
  /** Token price of the newest list on record. */
  readonly listedAttoUsd: TokenPriceAttoUsd
  readonly listedAgeMs: number
  readonly marketAttoUsd: TokenPriceAttoUsd
  readonly tolerancePercent: number
}

// Below this a difference is the noise of three polls that are not of the same second; in parts of a thousand.
const noisePerMille = 5n
const settledMs = 60_000

/**
 * Whether the market has left the list on record. A list of the last minute, whichever instance it is of, stands as long
 * as it is within the tolerance: so two instances whose markets differ a little do not answer each other with lists, and
 * the ledger gets one a minute at most, except for moves that callers would notice.
 */
export function isWorthPublishing(question: RepublishQuestion): boolean {
  const { listedAttoUsd, listedAgeMs, marketAttoUsd, tolerancePercent } = question
  const distance = marketAttoUsd > listedAttoUsd ? marketAttoUsd - listedAttoUsd : listedAttoUsd - marketAttoUsd
  if (distance * 1_000n <= listedAttoUsd * noisePerMille) return false
  return listedAgeMs >= settledMs || !isWithin(marketAttoUsd, listedAttoUsd, tolerancePercent)
}

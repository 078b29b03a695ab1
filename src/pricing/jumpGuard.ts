import { isWithin } from './agreement.ts'
import type { TokenPriceAttoUsd } from './tokenPrice.ts'

export interface MarketMemory {
  /** Accepted prices of the last minute, and the last one before. */
  readonly believed: readonly { readonly tokenPriceAttoUsd: TokenPriceAttoUsd; readonly atMs: number }[]
  /** A jump that one poll saw and no other poll has confirmed. */
  readonly unconfirmedJump: TokenPriceAttoUsd | undefined
}

export const noMemory: MarketMemory = { believed: [], unconfirmedJump: undefined }

export interface JudgedMove {
  readonly memory: MarketMemory
  readonly isBelieved: boolean
}

const jumpPercent = 20
const minuteMs = 60_000

/**
 * A price that moved by more than 20 % a minute is accepted once the next poll sees it too: a pool that was pushed for
 * one block has returned by then. It is compared with the whole last minute, so that small steps cannot pass the
 * limit.
 */
export function judgeMove(
  { believed, unconfirmedJump }: MarketMemory,
  { tokenPriceAttoUsd, atMs }: { readonly tokenPriceAttoUsd: TokenPriceAttoUsd; readonly atMs: number },
): JudgedMove {
  const now = { tokenPriceAttoUsd, atMs }
  const isJump = believed.some((before) => {
    const elapsedMs = Math.max(Math.round(atMs - before.atMs), minuteMs)
    const distance = tokenPriceAttoUsd - before.tokenPriceAttoUsd
    const size = distance < 0n ? -distance : distance
    return size * 100n * BigInt(minuteMs) > before.tokenPriceAttoUsd * BigInt(jumpPercent) * BigInt(elapsedMs)
  })
  if (!isJump) {
    const lastMinute = believed.filter((before) => atMs - before.atMs < minuteMs)
    return { memory: { believed: [...lastMinute, now], unconfirmedJump: undefined }, isBelieved: true }
  }
  // The jump is confirmed. Drop older prices, or every further poll would be rejected.
  if (unconfirmedJump !== undefined && isWithin(tokenPriceAttoUsd, unconfirmedJump, jumpPercent))
    return { memory: { believed: [now], unconfirmedJump: undefined }, isBelieved: true }
  return { memory: { believed, unconfirmedJump: tokenPriceAttoUsd }, isBelieved: false }
}

/** Call this after a poll without an agreement, so that the next poll is not the second in a row. */
export function forgetUnconfirmedJump({ believed }: MarketMemory): MarketMemory {
  return { believed, unconfirmedJump: undefined }
}

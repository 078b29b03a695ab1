import { isWithin } from './agreement.ts'
import type { TokenPriceAttoUsd } from './tokenPrice.ts'

/** State that distinguishes a move of the market from a jump. */
export interface MarketMemory {
  /** Prices that were believed within the last minute, and the last one of all. */
  readonly believed: readonly { readonly tokenPriceAttoUsd: TokenPriceAttoUsd; readonly atMs: number }[]
  /** A jump that the previous poll saw and no poll has confirmed. */
  readonly unconfirmedJump: TokenPriceAttoUsd | undefined
}

export const noMemory: MarketMemory = { believed: [], unconfirmedJump: undefined }

/** The verdict about one poll, and the state for the next one. */
export interface JudgedMove {
  readonly memory: MarketMemory
  readonly isBelieved: boolean
}

const jumpPercent = 20
const minuteMs = 60_000

/**
 * A price that moved by more than 20 % a minute is believed when the next poll sees it too: a pool that was pushed for the
 * length of one block is back by then. Compared with all of the last minute, or small steps could walk past the limit.
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
  // Confirmed: prices from before the jump are dropped, or the price would be rejected at every poll.
  if (unconfirmedJump !== undefined && isWithin(tokenPriceAttoUsd, unconfirmedJump, jumpPercent))
    return { memory: { believed: [now], unconfirmedJump: undefined }, isBelieved: true }
  return { memory: { believed, unconfirmedJump: tokenPriceAttoUsd }, isBelieved: false }
}

/** Called after a poll without an agreement: the next one is not the second in a row. */
export function forgetUnconfirmedJump({ believed }: MarketMemory): MarketMemory {
  return { believed, unconfirmedJump: undefined }
}

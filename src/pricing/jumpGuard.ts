import { isWithin } from './agreement.ts'
import type { TokenPriceAttoUsd } from './tokenPrice.ts'

/** State that distinguishes a move of the market from a jump. */
export interface MarketMemory {
  /** Prices that were believed within the last minute, and the last one of all. */
  readonly believed: readonly { readonly tokenPriceAttoUsd: TokenPriceAttoUsd; readonly atMs: number }[]
  /** A jump that the poll before this one saw. */
  readonly held: TokenPriceAttoUsd | undefined
}

export const noMemory: MarketMemory = { believed: [], held: undefined }

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
  { believed, held }: MarketMemory,
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
    return { memory: { believed: [...lastMinute, now], held: undefined }, isBelieved: true }
  }
  // Confirmed: prices from before the jump are dropped, or the price would be held at every poll.
  if (held !== undefined && isWithin(tokenPriceAttoUsd, held, jumpPercent))
    return { memory: { believed: [now], held: undefined }, isBelieved: true }
  return { memory: { believed, held: tokenPriceAttoUsd }, isBelieved: false }
}

/** After a poll without an agreement: the next one is not the second in a row. */
export function forgetHeld({ believed }: MarketMemory): MarketMemory {
  return { believed, held: undefined }
}

import { isWithin } from './agreement.ts'
import type { TokenPriceAttoUsd } from './tokenPrice.ts'

export interface MarketMemory {
  readonly believed: readonly { readonly tokenPriceAttoUsd: TokenPriceAttoUsd; readonly atMs: number }[]
  /** One poll returned this jump, and no later poll has confirmed it yet. */
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
 * A price that moved by more than 20 % a minute counts only once the next poll returns a similar price: a pool that was
 * manipulated for one block has recovered by then. All prices of the last minute are compared, so that small steps
 * cannot pass the limit.
 */
export function judgeMove(
  { believed, unconfirmedJump }: MarketMemory,
  { tokenPriceAttoUsd, atMs }: { readonly tokenPriceAttoUsd: TokenPriceAttoUsd; readonly atMs: number },
): JudgedMove {
  const now = { tokenPriceAttoUsd, atMs }
  const isJump = believed.some((before) => {
    const elapsedMs = Math.max(Math.round(atMs - before.atMs), minuteMs)
    const distanceAttoUsd = tokenPriceAttoUsd - before.tokenPriceAttoUsd
    const sizeAttoUsd = distanceAttoUsd < 0n ? -distanceAttoUsd : distanceAttoUsd
    return sizeAttoUsd * 100n * BigInt(minuteMs) > before.tokenPriceAttoUsd * BigInt(jumpPercent) * BigInt(elapsedMs)
  })
  if (!isJump) {
    const lastMinute = believed.filter((before) => atMs - before.atMs < minuteMs)
    return { memory: { believed: [...lastMinute, now], unconfirmedJump: undefined }, isBelieved: true }
  }
  // The second poll confirms the jump. Drop all older prices, because they would make every further poll a jump.
  if (unconfirmedJump !== undefined && isWithin(tokenPriceAttoUsd, unconfirmedJump, jumpPercent))
    return { memory: { believed: [now], unconfirmedJump: undefined }, isBelieved: true }
  return { memory: { believed, unconfirmedJump: tokenPriceAttoUsd }, isBelieved: false }
}

/** Call it after a poll without an agreement, because only two polls in a row confirm a jump. */
export function forgetUnconfirmedJump({ believed }: MarketMemory): MarketMemory {
  return { believed, unconfirmedJump: undefined }
}

import { LRUCache } from 'lru-cache'
import { cacheBound } from './cacheBound.ts'
import type { Clock } from '@tollbook/core/clock'

/**
 * Limits the lookups of a wallet for items that no provider has. A payment that is not spent yet can be used for any
 * number of such lookups, and each uses part of every provider's quota. Lookups with an answer are not counted, because
 * the wallet pays for them.
 */
export interface MissBudget {
  mayBegin(buyer: string): boolean
  /**
   * Counts a lookup. Undefined if the wallet has used its three misses in ten minutes. Otherwise returns a function,
   * which the caller must call with the outcome.
   */
  begin(buyer: string): ((isMiss: boolean) => void) | undefined
}

const missesMax = 3
const windowMs = 10 * 60_000
const buyersMax = 5_000

export function createMissBudget(clock: Clock): MissBudget {
  const perf = { now: () => clock.monotonicMs() }
  const countedMs = new LRUCache<string, number[]>({ perf, ttlResolution: 0, ...cacheBound(buyersMax), ttl: windowMs })
  const recent = (buyer: string) => (countedMs.get(buyer) ?? []).filter((atMs) => clock.monotonicMs() - atMs < windowMs)
  return {
    mayBegin: (buyer) => recent(buyer).length < missesMax,
    begin(buyer) {
      const earlier = recent(buyer)
      if (earlier.length >= missesMax) return undefined
      // Count the lookup before its outcome is known, so that concurrent lookups are counted too.
      const atMs = clock.monotonicMs()
      countedMs.set(buyer, [...earlier, atMs])
      return (isMiss) => {
        if (isMiss) return
        const counted = recent(buyer)
        const index = counted.indexOf(atMs)
        countedMs.set(
          buyer,
          counted.filter((_each, at) => at !== index),
        )
      }
    },
  }
}

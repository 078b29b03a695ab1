import { LRUCache } from 'lru-cache'
import { cacheBound } from './cacheBound.ts'
import type { Clock } from '@tollbook/core/clock'

/**
 * Limits one wallet's lookups of items that no provider has. An unspent payment can be used for any number of such
 * lookups, and each takes requests from every provider's quota. Answers are paid for, so they are not counted.
 */
export interface MissBudget {
  mayBegin(buyer: string): boolean
  /** Undefined if the wallet has used its misses. Otherwise returns a function that must be called with the outcome. */
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
      // Count the lookup before its outcome, so that concurrent lookups count too.
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

import { LRUCache } from 'lru-cache'
import { cacheBound } from './cacheBound.ts'
import type { Clock } from '@tollbook/core/clock'
import type { Failure } from '../product/product.ts'

/**
 * Limits the lookups of a wallet for items that no provider has. A payment that is not spent yet can be used for any
 * number of such lookups, and each uses part of every provider's quota. Lookups in progress are limited too. An ended
 * lookup that found its item does not count.
 */
export interface MissBudget {
  /** Undefined: the wallet may begin a lookup. */
  whyRefused(buyer: string): Failure | undefined
  /** Counts a lookup in progress. The caller must call the returned function with the outcome. */
  begin(buyer: string): (isMiss: boolean) => void
}

const missesMax = 3
// Four orders of five symbols. They are bounded, so that a wallet cannot begin any number of lookups before its first
// miss.
const inProgressMax = 20
const windowMs = 10 * 60_000
const buyersMax = 5_000

const refusalOf = (message: string): Failure => ({ kind: 'failed', code: 'UPSTREAM_FAILED', message })
const tooManyMisses = refusalOf(
  `this wallet asked for ${missesMax} items within 10 minutes that no provider knows, so no more are looked up for it; wait ten minutes`,
)
const tooManyAtOnce = refusalOf(
  `this wallet has ${inProgressMax} lookups in progress; repeat with the same proof when they have ended`,
)

export function createMissBudget(clock: Clock): MissBudget {
  const perf = { now: () => clock.monotonicMs() }
  const missedMs = new LRUCache<string, number[]>({ perf, ttlResolution: 0, ...cacheBound(buyersMax), ttl: windowMs })
  const inProgress = new Map<string, number>()
  const recent = (buyer: string) => (missedMs.get(buyer) ?? []).filter((atMs) => clock.monotonicMs() - atMs < windowMs)
  return {
    whyRefused(buyer) {
      if (recent(buyer).length >= missesMax) return tooManyMisses
      return (inProgress.get(buyer) ?? 0) >= inProgressMax ? tooManyAtOnce : undefined
    },
    begin(buyer) {
      inProgress.set(buyer, (inProgress.get(buyer) ?? 0) + 1)
      return (isMiss) => {
        const left = (inProgress.get(buyer) ?? 0) - 1
        if (left > 0) inProgress.set(buyer, left)
        else inProgress.delete(buyer)
        if (isMiss) missedMs.set(buyer, [...recent(buyer), clock.monotonicMs()])
      }
    },
  }
}

import { LRUCache } from 'lru-cache'

// A payment of 0.02 dollars earns 512 units, which are 0.1 s of a processor or 39 purchases.
const unitsPerDollar = 25_600
// Minimum for products below a tenth of a cent. It covers the next purchase of the payer and one repetition.
const unitsPerPaymentMin = 26
// Equals 0.8 s of a processor. The cap limits a flood from one address that has paid.
const unitsMax = 4_096
const earnersMax = 10_000
const earnedForMs = 3_600_000
const microUsdPerDollar = 1_000_000

export type EarnedWork = ReturnType<typeof createEarnedWork>

/**
 * Counts the work that client addresses have earned by payments, in proportion to the price. A unit is about 0.2 ms of
 * a processor.
 */
export function createEarnedWork(now: () => number) {
  const earned = new LRUCache<string, number>({ max: earnersMax, ttl: earnedForMs, perf: { now } })
  const of = (address: string) => earned.get(address) ?? 0
  return {
    has: (address: string) => of(address) > 0,
    spend(address: string, units: number) {
      if (of(address) > 0) earned.set(address, Math.max(0, of(address) - units))
    },
    add(address: string, priceMicroUsd: bigint) {
      const units = Math.floor((Number(priceMicroUsd) * unitsPerDollar) / microUsdPerDollar)
      earned.set(address, Math.min(unitsMax, of(address) + Math.max(unitsPerPaymentMin, units)))
    },
  }
}

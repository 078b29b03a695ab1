import { LRUCache } from 'lru-cache'

// A purchase takes two of them. The cap bounds a flood of one address that has paid.
const earnedPerPayment = 16
const earnedMax = 256
const earnersMax = 10_000
const earnedForMs = 3_600_000
// A payer that repeats its requests has used up what it earned. It still has no allowance to use up.
const payerForMs = 60_000

export type EarnedRequests = ReturnType<typeof createEarnedRequests>

/** Requests that client addresses have earned by paying. */
export function createEarnedRequests(now: () => number) {
  const earned = new LRUCache<string, number>({ max: earnersMax, ttl: earnedForMs, perf: { now } })
  const payers = new LRUCache<string, true>({ max: earnersMax, ttl: payerForMs, perf: { now } })
  const of = (address: string) => earned.get(address) ?? 0
  return {
    has: (address: string) => of(address) > 0,
    use: (address: string) => void earned.set(address, Math.max(0, of(address) - 1)),
    isPayer: (address: string) => payers.has(address) || of(address) > 0,
    add(address: string) {
      earned.set(address, Math.min(earnedMax, of(address) + earnedPerPayment))
      payers.set(address, true)
    },
  }
}

import { LRUCache } from 'lru-cache'
import { networkKey } from './clientAddress.ts'
import { clientsPerNetwork } from './networkLimit.ts'

// At this allowance an address has a burst of 8 units, enough for one quote (5) or one proof (8) of a new client.
const unitsPerSecondMin = 4
// While allowances have this value, work is neither counted nor limited by address.
const unitsPerSecondMax = 4_000
// Units of all addresses together in 100 ms before allowances shrink. They equal a twentieth of a processor.
const unitsPerWindowMin = 25
const burstSeconds = 2
// After this time, the counted work of an address that stops no longer matters.
const debtSecondsMax = 4
// Pauses of a refused address, in seconds. They grow while it is refused, so that a client that reconnects at once
// costs less.
export const restSteps = [5, 10, 20] as const
const decrease = 0.7
const increase = 1.15
const passesPerSecond = 10
// Maximum of addresses in memory. For floods from more addresses, the limit on requests in progress applies.
const addressesMax = 10_000
const msPerSecond = 1_000

// A payment of 0.02 dollars earns 512 units, which are about 0.1 s of a processor.
const unitsPerDollar = 25_600
// For products below a tenth of a cent: covers the next purchase of the payer and one repetition.
const unitsPerPaymentMin = 26
// 0.8 s of a processor, which bounds a flood from one address that has paid.
const earnedUnitsMax = 4_096
const earnersMax = 10_000
const earnedForMs = 3_600_000
const microUsdPerDollar = 1_000_000

interface SpentAllowance {
  units: number
  atMs: number
  /** 1 for an address, several for a network. */
  readonly size: number
  /** Time at which the refusals of this address began. Undefined: the address is not refused at present. */
  refusedSinceMs?: number | undefined
}

function bucketsOf(address: string): readonly (readonly [key: string, size: number])[] {
  const network = networkKey(address)
  const own = [address, 1] as const
  return network === undefined ? [own] : [own, [network, clientsPerNetwork] as const]
}

function leak(spent: SpentAllowance, perSecond: number, nowMs: number): SpentAllowance {
  spent.units = Math.max(0, spent.units - ((nowMs - spent.atMs) / msPerSecond) * perSecond * spent.size)
  spent.atMs = nowMs
  return spent
}

function createEarnings(now: () => number) {
  const earned = new LRUCache<string, number>({ max: earnersMax, ttl: earnedForMs, perf: { now } })
  const unitsOf = (address: string) => earned.get(address) ?? 0
  return {
    has: (address: string) => unitsOf(address) > 0,
    spend: (address: string, units: number) => void earned.set(address, Math.max(0, unitsOf(address) - units)),
    add(address: string, priceMicroUsd: bigint): void {
      const units = Math.floor((Number(priceMicroUsd) * unitsPerDollar) / microUsdPerDollar)
      earned.set(address, Math.min(earnedUnitsMax, unitsOf(address) + Math.max(unitsPerPaymentMin, units)))
    },
  }
}

/**
 * Limits addresses from the time at which the instance is busy and serves callers who have paid, until it has been calm
 * for some seconds. Each address has a leaky bucket, and each IPv6 network of 48 bits has one of 16 times the size.
 * Earned work is used first. The buckets do not shrink while payers alone keep the instance busy, because refusing
 * strangers would gain nothing.
 */
export function createAllowances(now: () => number) {
  const byAddress = new LRUCache<string, SpentAllowance>({ max: addressesMax })
  const earnings = createEarnings(now)
  let perSecond = unitsPerSecondMax
  let ofWindow = 0
  let wasBusy = false
  const passes: SpentAllowance = { units: 0, atMs: now(), size: 1 }
  const isOver = (spent: SpentAllowance | undefined): boolean => {
    if (spent === undefined || perSecond >= unitsPerSecondMax) return false
    if (leak(spent, perSecond, now()).units >= perSecond * burstSeconds * spent.size) return true
    spent.refusedSinceMs = undefined
    return false
  }
  /** Finds a used-up allowance of the address or its network. Undefined if none is used up, or earned work is left. */
  const findSpent = (address: string): SpentAllowance | undefined =>
    earnings.has(address)
      ? undefined
      : bucketsOf(address)
          .map(([key]) => byAddress.get(key))
          .find(isOver)
  const isSpent = (address: string): boolean => findSpent(address) !== undefined
  return {
    isSpent,
    spend(address: string, units: number): void {
      if (earnings.has(address)) return earnings.spend(address, units)
      ofWindow += units
      // Shrink allowances now instead of at the end of the window, because this work can delay that end.
      if (wasBusy && ofWindow >= unitsPerWindowMin) {
        ofWindow = 0
        perSecond = Math.max(unitsPerSecondMin, perSecond * decrease)
      }
      if (perSecond >= unitsPerSecondMax) return
      for (const [key, size] of bucketsOf(address)) {
        const spent: SpentAllowance = byAddress.get(key) ?? { units: 0, atMs: now(), size }
        const unitsMax = perSecond * (burstSeconds + debtSecondsMax) * size
        spent.units = Math.min(leak(spent, perSecond, now()).units + units, unitsMax)
        byAddress.set(key, spent)
      }
    },
    /** Returns 5 to 20 seconds, growing while the address is refused, or 0 if it is not refused. */
    restSeconds(address: string): number {
      const spent = findSpent(address)
      if (spent === undefined) return 0
      const refusedSeconds = (now() - (spent.refusedSinceMs ??= now())) / msPerSecond
      return restSteps.findLast((step) => refusedSeconds >= step) ?? restSteps[0]
    },
    hasEarned: earnings.has,
    /** Gives the address earned work, and clears the work that was counted for it. */
    reward(address: string, priceMicroUsd: bigint): void {
      const [forgiven, network] = [byAddress.get(address), byAddress.get(networkKey(address) ?? '')]
      if (forgiven !== undefined && network !== undefined) network.units -= Math.min(network.units, forgiven.units)
      byAddress.delete(address)
      earnings.add(address, priceMicroUsd)
    },
    /** True to refuse a request. Lets a few requests pass, for clients that share their address with an attacker. */
    turnsAway(address: string): boolean {
      if (!isSpent(address)) return false
      if (leak(passes, passesPerSecond, now()).units > 0) return true
      passes.units++
      return false
    },
    /** Called after each window. Allowances grow while the instance is calm; `spend` shrinks them after busy windows. */
    adapt(isBusy: boolean): void {
      wasBusy = isBusy
      ofWindow = 0
      if (!isBusy) perSecond = Math.min(unitsPerSecondMax, perSecond * increase)
    },
  }
}

import { LRUCache } from 'lru-cache'
import { networkKey } from './clientAddress.ts'
import { clientsPerNetwork } from './networkLimit.ts'

/** Work that each client address may cause while callers who have paid are served and the instance is busy. */
export interface Allowances {
  /**
   * Counts work of an address. A unit is about 0.2 ms of a processor. On a busy instance allowances shrink with this work: an
   * instance that payers alone keep busy gains nothing from refusing newcomers.
   */
  spend(address: string, units: number): void
  /** The address has paid: nothing of what it asked for counts. */
  forgive(address: string): void
  /** Whether the address has caused more work than its allowance. */
  isSpent(address: string): boolean
  /** Seconds for which such an address is to stay away: as long as it has been refused already, within bounds; otherwise 0. */
  restSeconds(address: string): number
  /** As `isSpent`, but a few still pass, so a neighbour of an attacker (NAT) is not shut out. */
  turnsAway(address: string): boolean
  /** Follows the load of one window of time. Allowances grow while the instance is calm. */
  adapt(isBusy: boolean): void
}

// A newcomer's quote takes 5 and its proof 8, of the 8 that an address has at a time.
const unitsPerSecondMin = 4
// From this allowance on, work is neither counted nor limited by address.
const unitsPerSecondMax = 4_000
// In a window of 100 ms, for all addresses together: a twentieth of a processor, or 19 newcomers a second with a quote and a proof each.
const unitsPerWindowMin = 25
const burstSeconds = 2
// An address that stops is forgiven within this time.
const debtSecondsMax = 4
// An address that reconnects at once for a long time costs a quarter of one that always waits for 5 s.
export const restSteps = [5, 10, 20] as const
const decrease = 0.7
const increase = 1.15
const passesPerSecond = 10
// About 1 MB. A flood from more addresses is bounded by the limit on requests in progress.
const addressesMax = 10_000
const msPerSecond = 1_000

interface SpentAllowance {
  units: number
  atMs: number
  /** Allowances of one client address that it holds: several for a network. */
  readonly size: number
  /** Since when the address has been refused without a pause. */
  refusedSinceMs?: number | undefined
}

/** The buckets in which work of an address counts, each with its size: its own, and that of its network. */
function bucketsOf(address: string): readonly (readonly [key: string, size: number])[] {
  const network = networkKey(address)
  const own = [address, 1] as const
  return network === undefined ? [own] : [own, [network, clientsPerNetwork] as const]
}

/**
 * Leaky buckets of one size that follows the load, one for each address, and one of 16 times that size for each IPv6
 * network of 48 bits.
 */
export function createAllowances(now: () => number): Allowances {
  const byAddress = new LRUCache<string, SpentAllowance>({ max: addressesMax })
  let perSecond = unitsPerSecondMax
  let ofWindow = 0
  let wasBusy = false
  const passes: SpentAllowance = { units: 0, atMs: now(), size: 1 }
  const leak = (spent: SpentAllowance, rate: number): SpentAllowance => {
    const atMs = now()
    spent.units = Math.max(0, spent.units - ((atMs - spent.atMs) / msPerSecond) * rate * spent.size)
    spent.atMs = atMs
    return spent
  }
  const isOver = (spent: SpentAllowance | undefined): boolean => {
    if (spent === undefined || perSecond >= unitsPerSecondMax) return false
    if (leak(spent, perSecond).units >= perSecond * burstSeconds * spent.size) return true
    spent.refusedSinceMs = undefined
    return false
  }
  /** The allowance of the address, or of its network, that is used up. */
  const findSpent = (address: string): SpentAllowance | undefined =>
    bucketsOf(address)
      .map(([key]) => byAddress.get(key))
      .find(isOver)
  const isSpent = (address: string): boolean => findSpent(address) !== undefined
  return {
    isSpent,
    spend(address, units) {
      ofWindow += units
      // Applied at once: the next window may begin late, because this work delays it.
      if (wasBusy && ofWindow >= unitsPerWindowMin) {
        ofWindow = 0
        perSecond = Math.max(unitsPerSecondMin, perSecond * decrease)
      }
      if (perSecond >= unitsPerSecondMax) return
      for (const [key, size] of bucketsOf(address)) {
        const spent: SpentAllowance = byAddress.get(key) ?? { units: 0, atMs: now(), size }
        const unitsMax = perSecond * (burstSeconds + debtSecondsMax) * size
        spent.units = Math.min(leak(spent, perSecond).units + units, unitsMax)
        byAddress.set(key, spent)
      }
    },
    restSeconds(address) {
      const spent = findSpent(address)
      if (spent === undefined) return 0
      const refusedSeconds = (now() - (spent.refusedSinceMs ??= now())) / msPerSecond
      return restSteps.findLast((step) => refusedSeconds >= step) ?? restSteps[0]
    },
    forgive(address) {
      const [forgiven, network] = [byAddress.get(address), byAddress.get(networkKey(address) ?? '')]
      if (forgiven !== undefined && network !== undefined) network.units -= Math.min(network.units, forgiven.units)
      byAddress.delete(address)
    },
    turnsAway(address) {
      if (!isSpent(address)) return false
      if (leak(passes, passesPerSecond).units > 0) return true
      passes.units++
      return false
    },
    adapt(isBusy) {
      wasBusy = isBusy
      ofWindow = 0
      if (!isBusy) perSecond = Math.min(unitsPerSecondMax, perSecond * increase)
    },
  }
}

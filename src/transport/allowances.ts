import { LRUCache } from 'lru-cache'
import { networkKey } from './clientAddress.ts'
import { clientsPerNetwork } from './networkLimit.ts'

export type Allowances = ReturnType<typeof createAllowances>

// A newcomer's quote costs 5 units and its proof 8. An address can use 8 at a time.
const unitsPerSecondMin = 4
// At this allowance or a higher one, work is neither counted nor limited by address.
const unitsPerSecondMax = 4_000
// Units that all addresses together may use in a window of 100 ms. They equal a twentieth of a processor, or 19
// newcomers per second with a quote and a proof each.
const unitsPerWindowMin = 25
const burstSeconds = 2
// Seconds within which an address that stops is forgiven.
const debtSecondsMax = 4
// Seconds of rest by the time of refusal. An address that reconnects at once for a long time costs a quarter of one
// that always waits for 5 s.
export const restSteps = [5, 10, 20] as const
const decrease = 0.7
const increase = 1.15
const passesPerSecond = 10
// About 1 MB. For floods from more addresses, the limit on requests in progress applies.
const addressesMax = 10_000
const msPerSecond = 1_000

interface SpentAllowance {
  units: number
  atMs: number
  /** Number of single allowances in this bucket: 1 for an address, several for a network. */
  readonly size: number
  /** Time since which the address has been refused without a pause. */
  refusedSinceMs?: number | undefined
}

/** Returns the bucket of the address and the one of its network. */
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

/**
 * Work that each client address may cause while the instance is busy and serves callers who have paid. It has a leaky
 * bucket for each address, and one of 16 times the size for each IPv6 network of 48 bits. The size follows the load.
 */
export function createAllowances(now: () => number) {
  const byAddress = new LRUCache<string, SpentAllowance>({ max: addressesMax })
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
  /** Returns the used-up allowance of the address or of its network. */
  const findSpent = (address: string): SpentAllowance | undefined =>
    bucketsOf(address)
      .map(([key]) => byAddress.get(key))
      .find(isOver)
  const isSpent = (address: string): boolean => findSpent(address) !== undefined
  return {
    /** True if the address has caused more work than its allowance. */
    isSpent,
    /**
     * Counts work of an address, in units of about 0.2 ms of a processor. On a busy instance allowances shrink as this
     * work grows. They do not shrink while payers alone keep the instance busy, because refusing newcomers would gain
     * nothing.
     */
    spend(address: string, units: number): void {
      ofWindow += units
      // Shrink allowances here, because this work can delay the start of the next window.
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
    /** Seconds for which the address should send nothing: as long as it has been refused so far, within bounds. */
    restSeconds(address: string): number {
      const spent = findSpent(address)
      if (spent === undefined) return 0
      const refusedSeconds = (now() - (spent.refusedSinceMs ??= now())) / msPerSecond
      return restSteps.findLast((step) => refusedSeconds >= step) ?? restSteps[0]
    },
    /** Clears the counted work of an address that has paid. */
    forgive(address: string): void {
      const [forgiven, network] = [byAddress.get(address), byAddress.get(networkKey(address) ?? '')]
      if (forgiven !== undefined && network !== undefined) network.units -= Math.min(network.units, forgiven.units)
      byAddress.delete(address)
    },
    /** Like `isSpent`, but lets a few requests pass, so that a NAT neighbor of an attacker still gets through. */
    turnsAway(address: string): boolean {
      if (!isSpent(address)) return false
      if (leak(passes, passesPerSecond, now()).units > 0) return true
      passes.units++
      return false
    },
    /** Adapts allowances to the load of one window. They grow while the instance is calm. */
    adapt(isBusy: boolean): void {
      wasBusy = isBusy
      ofWindow = 0
      if (!isBusy) perSecond = Math.min(unitsPerSecondMax, perSecond * increase)
    },
  }
}

import { LRUCache } from 'lru-cache'
import type { Clock } from '@tollbook/core/clock'

/** Recent use of the browsers by payers and sites. It decides which page is next, and in which browser it runs. */
export interface RenderRecord {
  /** Milliseconds that the payer and the site count for, beyond the jobs that they have running. */
  useOf(user: BrowserUser): number
  standingOf(user: BrowserUser): Standing
  addWaste(user: BrowserUser, ms: number): void
  addCustomer(payer: string): void
  /** A browser ended while a page of theirs was in it. */
  addLoss(user: BrowserUser): void
}

/** The two parties whose past behaviour decides the turn of a job. */
export interface BrowserUser {
  readonly payer: string
  /** Host of the page, or the payer for HTML that was given. */
  readonly site: string
}

/**
 * Customers share a worker with a browser, and strangers share another (`separateEngines.ts`). A suspect's pages were in
 * browsers that ended, so each of them has a separate browser.
 */
export const standings = ['customer', 'stranger', 'suspect'] as const
export type Standing = (typeof standings)[number]

const rememberedMax = 10_000
// Long enough to outlast a series of retries, short enough that a site which was down is not punished for a day.
const wasteRememberedMs = 5 * 60 * 1000
// A payer who has bought nothing lately counts as one whose page has hung for this long: wallets are free, so a crowd of
// new ones must not stand before those who buy. Twice the time of a payment, because a page that fails under the load of
// the crowd counts for its payer and for its site.
const strangerMs = 60_000
const hourMs = 60 * 60 * 1000
// Any page of a browser can have ended it. The one that did is there again when the next one ends.
const lossesMax = 1

/** Records are in memory of this process, for an hour at most. */
export function createRenderRecord(clock: Pick<Clock, 'monotonicMs'>): RenderRecord {
  const bounds = { perf: { now: () => clock.monotonicMs() }, ttlResolution: 0, max: rememberedMax }
  const wastedMs = new LRUCache<string, number>({ ...bounds, ttl: wasteRememberedMs })
  const customers = new LRUCache<string, true>({ ...bounds, ttl: hourMs })
  const losses = new LRUCache<string, number>({ ...bounds, ttl: hourMs })
  const isSuspect = (key: string): boolean => (losses.get(key) ?? 0) > lossesMax
  return {
    useOf(user) {
      const wasted = keysOf(user).reduce((sum, key) => sum + (wastedMs.get(key) ?? 0), 0)
      return wasted + (customers.has(user.payer) ? 0 : strangerMs)
    },
    standingOf({ payer, site }) {
      if (isSuspect(payerKey(payer))) return 'suspect'
      // Every payer may name a site, so the losses of a site do not follow a customer.
      if (customers.has(payer)) return 'customer'
      return isSuspect(siteKey(site)) ? 'suspect' : 'stranger'
    },
    addWaste: (user, ms) => addTo(wastedMs, user, ms),
    addCustomer: (payer) => void customers.set(payer, true),
    addLoss: (user) => addTo(losses, user, 1),
  }
}

function addTo(sums: LRUCache<string, number>, user: BrowserUser, amount: number): void {
  for (const key of keysOf(user)) sums.set(key, (sums.get(key) ?? 0) + amount)
}

const payerKey = (payer: string): string => `payer ${payer}`
const siteKey = (site: string): string => `site ${site}`
const keysOf = ({ payer, site }: BrowserUser): readonly string[] => [payerKey(payer), siteKey(site)]

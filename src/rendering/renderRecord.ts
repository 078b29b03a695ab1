import { LRUCache } from 'lru-cache'
import type { Clock } from '@tollbook/core/clock'

export type RenderRecord = ReturnType<typeof createRenderRecord>

/** The past behaviour of the payer and the site decides the turn of a job. */
export interface BrowserUser {
  readonly payer: string
  /** Last two labels of the page's host, or its IP address. For HTML and Markdown from the caller, the payer. */
  readonly site: string
}

/**
 * Customers share one browser, and strangers another (`separateEngines.ts`). A page of a suspect has a separate
 * browser, because browsers ended while they showed a suspect's pages.
 */
export const standings = ['customer', 'stranger', 'suspect'] as const
export type Standing = (typeof standings)[number]

const rememberedMax = 10_000
// Long enough to outlast a series of retries. A site that was down is disadvantaged for five minutes only.
const wasteRememberedMs = 5 * 60 * 1000
// Wallets are free, so a payer without recent purchases ranks behind customers. The number is twice the 30 s of browser
// time of one payment, because a failed page counts for its payer and for its site.
const strangerMs = 60_000
const hourMs = 60 * 60 * 1000
// One loss proves nothing, because any page of the browser may have caused it.
const lossesMax = 1

/** Records the last hour at most. The queue decides by the record which page is next, and in which browser it runs. */
export function createRenderRecord(clock: Pick<Clock, 'monotonicMs'>) {
  const bounds = { perf: { now: () => clock.monotonicMs() }, ttlResolution: 0, max: rememberedMax }
  const wastedMs = new LRUCache<string, number>({ ...bounds, ttl: wasteRememberedMs })
  const customers = new LRUCache<string, true>({ ...bounds, ttl: hourMs })
  const losses = new LRUCache<string, number>({ ...bounds, ttl: hourMs })
  const isSuspect = (key: string): boolean => (losses.get(key) ?? 0) > lossesMax
  return {
    /** Returns the use of payer and site in milliseconds, without their running jobs. */
    useOf(user: BrowserUser): number {
      const wasted = keysOf(user).reduce((sum, key) => sum + (wastedMs.get(key) ?? 0), 0)
      return wasted + (customers.has(user.payer) ? 0 : strangerMs)
    },
    userStanding({ payer, site }: BrowserUser): Standing {
      if (isSuspect(payerKey(payer))) return 'suspect'
      // For a customer, ignore the losses of the site, because any payer may request a page of any site.
      if (customers.has(payer)) return 'customer'
      return isSuspect(siteKey(site)) ? 'suspect' : 'stranger'
    },
    addWaste: (user: BrowserUser, ms: number) => addTo(wastedMs, user, ms),
    addCustomer: (payer: string) => void customers.set(payer, true),
    /** Called when a browser ended while it showed a page of this payer and site. */
    addLoss: (user: BrowserUser) => addTo(losses, user, 1),
  }
}

function addTo(sums: LRUCache<string, number>, user: BrowserUser, amount: number): void {
  for (const key of keysOf(user)) sums.set(key, (sums.get(key) ?? 0) + amount)
}

const payerKey = (payer: string): string => `payer ${payer}`
const siteKey = (site: string): string => `site ${site}`
const keysOf = ({ payer, site }: BrowserUser): readonly string[] => [payerKey(payer), siteKey(site)]

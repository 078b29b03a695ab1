import { LRUCache } from 'lru-cache'
import type { Clock } from '@tollbook/core/clock'

export type RenderRecord = ReturnType<typeof createRenderRecord>

/** The payer and the site of a job. Their past behaviour decides its turn. */
export interface BrowserUser {
  readonly payer: string
  /** Host of the page. For HTML and Markdown from the caller, the payer. */
  readonly site: string
}

/**
 * Standing of a payer or site. Pages of customers share one browser, and pages of strangers share another
 * (`separateEngines.ts`). A suspect had pages in browsers that ended, so each page of a suspect has a separate
 * browser.
 */
export const standings = ['customer', 'stranger', 'suspect'] as const
export type Standing = (typeof standings)[number]

const rememberedMax = 10_000
// Time for which wasted time counts: long enough to outlast a series of retries. A site that was down is disadvantaged
// for five minutes only.
const wasteRememberedMs = 5 * 60 * 1000
// Milliseconds of use that a payer without recent purchases counts as. Wallets are free, so this ranks a crowd of new
// wallets behind customers. It is twice the time of a payment, because a page that fails under load counts twice: for
// its payer and for its site.
const strangerMs = 60_000
const hourMs = 60 * 60 * 1000
// Maximum number of lost browsers before a payer or site becomes a suspect. One loss proves nothing, because any page
// of the browser may have ended it. The page that caused it is also present at the next loss.
const lossesMax = 1

/**
 * Records how much payers and sites have used the browsers recently, for one hour at most. The record decides which
 * page is next, and in which browser it runs.
 */
export function createRenderRecord(clock: Pick<Clock, 'monotonicMs'>) {
  const bounds = { perf: { now: () => clock.monotonicMs() }, ttlResolution: 0, max: rememberedMax }
  const wastedMs = new LRUCache<string, number>({ ...bounds, ttl: wasteRememberedMs })
  const customers = new LRUCache<string, true>({ ...bounds, ttl: hourMs })
  const losses = new LRUCache<string, number>({ ...bounds, ttl: hourMs })
  const isSuspect = (key: string): boolean => (losses.get(key) ?? 0) > lossesMax
  return {
    /** Milliseconds of recorded use by the payer and the site, without their running jobs. */
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
    /** Records that a browser ended while it showed a page of this payer and site. */
    addLoss: (user: BrowserUser) => addTo(losses, user, 1),
  }
}

function addTo(sums: LRUCache<string, number>, user: BrowserUser, amount: number): void {
  for (const key of keysOf(user)) sums.set(key, (sums.get(key) ?? 0) + amount)
}

const payerKey = (payer: string): string => `payer ${payer}`
const siteKey = (site: string): string => `site ${site}`
const keysOf = ({ payer, site }: BrowserUser): readonly string[] => [payerKey(payer), siteKey(site)]

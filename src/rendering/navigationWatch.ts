import type { Page } from 'puppeteer'
import type { EgressProxy } from './egressProxy.ts'
import { RenderFailure } from './renderer.ts'

/** Addresses that the main frame has visited. */
export interface NavigationWatch {
  /** Throws when the page has turned into something that must not be sold. */
  check(): void
}

export const forbiddenMessage = 'the page is, or leads to, an address that may not be reached'

// The number of server redirects that Chromium follows; a page that navigates more often never ends.
const departuresMax = 20
const restlessMessage = `the page led elsewhere more than ${departuresMax} times`
// A page is watched so far; redirects of its servers are counted too.
const visitedMax = 500

/** Follows where the main frame goes, by redirect, script or refresh. */
export function watchNavigation(page: Page, proxy: EgressProxy): NavigationWatch {
  const visited = new Set<string>()
  let last: string | undefined
  let isAnswered = true
  let departures = 0
  page.on('request', (request) => {
    if (!request.isNavigationRequest() || request.frame() !== page.mainFrame()) return
    last = request.url()
    isAnswered = false
    if (request.redirectChain().length === 0) departures++
    // The verdict is certain, so nothing more is loaded.
    if (departures > departuresMax + 1) proxy.finish()
    if (visited.size < visitedMax) visited.add(last)
  })
  page.on('response', (response) => {
    if (!response.request().isNavigationRequest() || response.frame() !== page.mainFrame()) return
    // An answer after the end of loading is our own refusal.
    if (!proxy.isFinished()) isAnswered = true
  })
  return {
    check() {
      if (departures > departuresMax + 1) throw new RenderFailure('unreachable', restlessMessage, { endsPayment: true })
      // The remains of a cut proxy may look like a page that has loaded.
      if (proxy.isOverdrawn()) throw tooLarge()
      for (const url of visited)
        if (proxy.troubleWith(url) === 'forbidden') throw new RenderFailure('forbidden', forbiddenMessage)
      if (proxy.isFinished() && !isAnswered) throw new RenderFailure('timeout', 'the page did not answer in time')
      // A page of the browser's own, which stands where a page failed to load.
      if (!/^(https?:|about:blank)/.test(page.url()))
        throw new RenderFailure('unreachable', 'the page led to something that cannot be shown')
      if (last !== undefined && proxy.troubleWith(last) === 'unreachable')
        throw new RenderFailure('unreachable', 'the server of the page cannot be reached')
    },
  }
}

/** Another attempt would fetch as much. */
export function tooLarge(cause?: unknown): RenderFailure {
  return new RenderFailure('too_large', 'the page fetches more than 64 MiB', { cause, endsPayment: true })
}

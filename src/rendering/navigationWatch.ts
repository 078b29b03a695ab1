import type { Page } from 'puppeteer'
import type { EgressProxy } from './egressProxy.ts'
import { RenderFailure } from './renderer.ts'

export type NavigationWatch = ReturnType<typeof watchNavigation>

export const forbiddenMessage = 'the page is, or leads to, an address that may not be reached'

// Same as Chromium's limit of server redirects. A page that navigates more often is treated as endless.
const departuresMax = 20
const restlessMessage = `the page led elsewhere more than ${departuresMax} times`
// Maximum number of recorded addresses, including server redirects.
const visitedMax = 500

/** Records the addresses that the main frame visits by redirects, scripts or refreshes, up to a maximum. */
export function watchNavigation(page: Page, proxy: EgressProxy) {
  const visited = new Set<string>()
  let last: string | undefined
  let isAnswered = true
  let departures = 0
  page.on('request', (request) => {
    if (!request.isNavigationRequest() || request.frame() !== page.mainFrame()) return
    last = request.url()
    isAnswered = false
    if (request.redirectChain().length === 0) departures++
    // The visit fails in any case, so stop loading.
    if (departures > departuresMax + 1) proxy.finish()
    if (visited.size < visitedMax) visited.add(last)
  })
  page.on('response', (response) => {
    if (!response.request().isNavigationRequest() || response.frame() !== page.mainFrame()) return
    // After the end of loading, an answer is a refusal of the proxy and does not come from the server.
    if (!proxy.isFinished()) isAnswered = true
  })
  return {
    /** Throws if the page visited a forbidden address, navigated without end, exceeded the byte limit or did not load. */
    check(): void {
      if (departures > departuresMax + 1) throw new RenderFailure('unreachable', restlessMessage, { endsPayment: true })
      // Check the byte limit, because a page whose connections were cut may look loaded.
      if (proxy.isOverdrawn()) throw tooLarge()
      for (const url of visited)
        if (proxy.troubleWith(url) === 'forbidden') throw new RenderFailure('forbidden', forbiddenMessage)
      if (proxy.isFinished() && !isAnswered) throw new RenderFailure('timeout', 'the page did not answer in time')
      // Check the scheme, because Chromium shows an error page with another scheme if a page fails to load.
      if (!/^(https?:|about:blank)/.test(page.url()))
        throw new RenderFailure('unreachable', 'the page led to something that cannot be shown')
      if (last !== undefined && proxy.troubleWith(last) === 'unreachable')
        throw new RenderFailure('unreachable', 'the server of the page cannot be reached')
    },
  }
}

/**
 * Returns the failure of a page that exceeds the byte limit. It ends the payment, because another attempt would fetch
 * as much.
 */
export function tooLarge(cause?: unknown): RenderFailure {
  return new RenderFailure('too_large', 'the page fetches more than 64 MiB', { cause, endsPayment: true })
}

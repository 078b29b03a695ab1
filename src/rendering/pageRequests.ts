import type { HTTPRequest, Page } from 'puppeteer'

/** Requests of a page that have no whole answer yet. */
export interface PageRequests {
  pending(): readonly PendingRequest[]
  /** Number of requests that were ever pending. */
  startedCount(): number
}

export interface PendingRequest {
  readonly url: string
  /** Such as image, font or script. */
  readonly type: string
}

// Connections that stay open by design, and requests whose answers no page shows.
const neverEnding = new Set(['eventsource', 'websocket', 'ping', 'preflight', 'cspviolationreport'])
// A page can start requests without end; beyond this many they are counted by the browser only.
const trackedMax = 2_000

/** Ignores requests that never end by design, such as event streams, which would keep a page from being quiet. */
export function trackRequests(page: Page): PageRequests {
  const pending = new Map<HTTPRequest, PendingRequest>()
  let started = 0
  page.on('request', (request) => {
    const type = request.resourceType()
    if (neverEnding.has(type) || pending.size >= trackedMax || !/^https?:/.test(request.url())) return
    started++
    pending.set(request, { url: request.url(), type })
  })
  page.on('requestfinished', (request) => pending.delete(request))
  page.on('requestfailed', (request) => pending.delete(request))
  return { pending: () => [...pending.values()], startedCount: () => started }
}

const shownUrlLengthMax = 200

/** One of the requests as an example, because a page can have hundreds. */
export function describePending(pending: readonly PendingRequest[]): string {
  const [first] = pending
  if (first === undefined) return 'no request was pending'
  const count = pending.length === 1 ? '1 request was' : `${pending.length} requests were`
  return `${count} not answered, such as ${first.url.slice(0, shownUrlLengthMax)} (${first.type})`
}

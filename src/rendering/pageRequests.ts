import type { HTTPRequest, Page } from 'puppeteer'

export type PageRequests = ReturnType<typeof trackRequests>

export interface PendingRequest {
  readonly url: string
  /** Type of the resource, such as image, font or script. */
  readonly type: string
}

// Connections that stay open by design, and requests whose answers are not shown.
const neverEnding = new Set(['eventsource', 'websocket', 'ping', 'preflight', 'cspviolationreport'])
// Maximum of tracked requests, because a page can start any number.
const trackedMax = 2_000

/**
 * Tracks the pending requests of a page. Ignores requests that never end by design, such as event streams, because with
 * them no page would become quiet.
 */
export function trackRequests(page: Page) {
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

/** Describes the pending requests. Shows one request as an example, because a page can have hundreds. */
export function describePending(pending: readonly PendingRequest[]): string {
  const [first] = pending
  if (first === undefined) return 'no request was pending'
  const count = pending.length === 1 ? '1 request was' : `${pending.length} requests were`
  return `${count} not answered, such as ${first.url.slice(0, shownUrlLengthMax)} (${first.type})`
}

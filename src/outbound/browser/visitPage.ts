import { type HTTPResponse, type Page, TimeoutError } from 'puppeteer'
import type { EgressProxy } from './egressProxy.ts'
import { RenderFailure } from './renderer.ts'
import type { RenderTask } from './renderTask.ts'

/** A page that is there to be captured. */
export interface Visit {
  readonly httpStatus: number | undefined
  readonly complete: boolean
  /** Throws when the page has turned into something that must not be sold. */
  check(): void
}

// A page has this long to load; the rest of the job's time is for the picture.
const loadTimeoutMs = 12_000
// Scripts fetch after `load`; a page that never stops fetching is taken as it is.
const settleIdleMs = 50
const settleTimeoutMs = 1_500

/** Goes there, waits until it stands, and makes sure that it is a page and not the picture of a refusal. */
export async function visitPage(page: Page, task: RenderTask, proxy: EgressProxy): Promise<Visit> {
  await prepare(page, task)
  const watch = watchNavigation(page, proxy)
  const arrived = 'url' in task.page ? await goTo(page, task.page.url, watch) : await showHtml(page, task.page.html)
  watch.check()
  await settle(page)
  watch.check()
  return { ...arrived, check: watch.check }
}

async function prepare(page: Page, { viewport }: RenderTask): Promise<void> {
  page.on('dialog', (dialog) => void dialog.dismiss().catch(() => undefined))
  page.on('popup', (popup) => void popup?.close().catch(() => undefined))
  await page.setViewport({ ...viewport, deviceScaleFactor: 1 })
}

interface NavigationWatch {
  check(): void
  lastUrl(): string | undefined
}

/** Follows where the main frame goes, by redirect, script or refresh. */
function watchNavigation(page: Page, proxy: EgressProxy): NavigationWatch {
  const visited = new Set<string>()
  let last: string | undefined
  page.on('request', (request) => {
    if (!request.isNavigationRequest() || request.frame() !== page.mainFrame()) return
    last = request.url()
    if (visited.size < visitedMax) visited.add(last)
  })
  return {
    lastUrl: () => last,
    check() {
      // The remains of a cut proxy may look like a page that has loaded.
      if (proxy.isOverdrawn()) throw new RenderFailure('too_large', 'the page fetches more than 64 MiB')
      for (const url of visited)
        if (proxy.troubleWith(url) === 'forbidden') throw new RenderFailure('forbidden', forbiddenMessage)
      // A page of the browser's own, which stands where a page failed to load.
      if (!/^(https?:|about:blank)/.test(page.url()))
        throw new RenderFailure('unreachable', 'the page led to something that cannot be shown')
      if (last !== undefined && proxy.troubleWith(last) === 'unreachable')
        throw new RenderFailure('unreachable', 'the server of the page cannot be reached')
    },
  }
}

// Chromium follows 20 redirects; a page that refreshes itself without end is watched so far.
const visitedMax = 200

async function goTo(page: Page, url: string, watch: NavigationWatch) {
  let stands = false
  page.once('domcontentloaded', () => (stands = true))
  let response: HTTPResponse | null = null
  page.on('response', (candidate) => {
    if (candidate.request().isNavigationRequest() && candidate.frame() === page.mainFrame()) response = candidate
  })
  try {
    const arrived = await page.goto(url, { waitUntil: 'load', timeout: loadTimeoutMs })
    return { httpStatus: arrived?.status() ?? statusOf(response), complete: true }
  } catch (error) {
    watch.check()
    if (error instanceof TimeoutError && stands) return { httpStatus: statusOf(response), complete: false }
    if (error instanceof TimeoutError) throw new RenderFailure('timeout', 'the page did not load in time', error)
    throw noPage(error)
  }
}

function statusOf(response: HTTPResponse | null): number | undefined {
  return response?.status()
}

// Requests that the browser itself refuses: a port of another service, a redirect to another scheme, a scheme of our
// list.
const refusedByBrowser = new Set(['ERR_UNSAFE_PORT', 'ERR_UNSAFE_REDIRECT', 'ERR_BLOCKED_BY_CLIENT'])

/** The browser's own error code is precise enough; the rest of its message is not shown. */
function noPage(error: unknown): RenderFailure {
  const code = /net::(ERR_[A-Z0-9_]+)/.exec(error instanceof Error ? error.message : '')?.[1] ?? ''
  if (refusedByBrowser.has(code)) return new RenderFailure('forbidden', forbiddenMessage, error)
  if (code === 'ERR_ABORTED')
    return new RenderFailure('unreachable', 'there is no page to show: a download, or no content', error)
  return new RenderFailure('unreachable', `the page could not be loaded: ${code || 'the browser says no more'}`, error)
}

const forbiddenMessage = 'the page is, or leads to, an address that may not be reached'

async function showHtml(page: Page, html: string) {
  try {
    await page.setContent(html, { waitUntil: 'load', timeout: loadTimeoutMs })
    return { httpStatus: undefined, complete: true }
  } catch (error) {
    // Given HTML is available immediately; only its subresources can be late.
    if (error instanceof TimeoutError) return { httpStatus: undefined, complete: false }
    throw error
  }
}

async function settle(page: Page): Promise<void> {
  try {
    await page.waitForNetworkIdle({ idleTime: settleIdleMs, timeout: settleTimeoutMs })
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error
  }
}

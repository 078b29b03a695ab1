import { type HTTPResponse, type Page, TimeoutError } from 'puppeteer'
import type { EgressProxy } from './egressProxy.ts'
import { placeBanners } from './fixedBanners.ts'
import { countMissingGlyphs } from './missingGlyphs.ts'
import { markdownShell, showMarkdown } from './markdownPage.ts'
import { describePending, type PageRequests, trackRequests } from './pageRequests.ts'
import { watchSockets } from './pageSockets.ts'
import { watchTimers } from './pageTimers.ts'
import { forbiddenMessage, type NavigationWatch, watchNavigation } from './navigationWatch.ts'
import { openPageWorld, type PageWorld } from './pageWorld.ts'
import { preparePage } from './preparePage.ts'
import { type MissingContent, RenderFailure } from './renderer.ts'
import type { RenderTask } from './renderTask.ts'
import { settlePage } from './settlePage.ts'

export type Visit = Awaited<ReturnType<typeof arriveAndSettle>>

export interface VisitDeps {
  readonly proxy: EgressProxy
  /** Content that arrives later is left out. */
  readonly loadTimeoutMs: number
  readonly hurry: AbortSignal
}

// Time for a page to become ready after its pending requests were ended.
const finishTimeoutMs = 3_000

/**
 * Visits the page, and waits until it has settled. Throws if the browser shows an error page or the proxy refused an
 * address.
 */
export async function visitPage(page: Page, task: RenderTask, deps: VisitDeps): Promise<Visit> {
  await preparePage(page, task)
  const watch = watchNavigation(page, deps.proxy)
  try {
    return await arriveAndSettle(page, task, { ...deps, watch })
  } catch (error) {
    // Check the visits first, because the failures of the visited addresses explain more than the final error.
    watch.check()
    throw error
  }
}

interface WatchedVisit extends VisitDeps {
  readonly watch: NavigationWatch
}

async function arriveAndSettle(page: Page, task: RenderTask, deps: WatchedVisit) {
  const { proxy, watch } = deps
  const requests = trackRequests(page)
  const [timers, sockets] = await Promise.all([watchTimers(page), watchSockets(page)])
  const world = await openPageWorld(page)
  const loading = endLoading(requests, deps)
  const httpStatus = await arrive(page, task, { ...deps, world })
  watch.check()
  if (task.isPrinted) await page.emulateMediaType('print')
  if (task.options.hide !== undefined) await hideElements(world, task.options.hide)
  const unsettled = await settlePage({ page, world, requests, timers, sockets, scroll: task.scroll }, task.options)
  loading.forget()
  await world.run(finishAnimations)
  if (task.scroll !== undefined && 'url' in task.page) await placeBanners(world, task.isPrinted)
  const missingGlyphs = await countMissingGlyphs(world)
  watch.check()
  // End all requests first, because printing waits for fonts and pictures without a bound.
  if (task.isPrinted) proxy.finish()
  const missing = [...loading.missing(), ...unsettled]
  return { httpStatus, missing, missingGlyphs, world, check: () => watch.check() }
}

function endLoading(requests: PageRequests, { proxy, loadTimeoutMs, hurry }: VisitDeps) {
  let missing: readonly MissingContent[] = []
  const late = AbortSignal.any([AbortSignal.timeout(loadTimeoutMs), hurry])
  const finish = (): void => {
    const pending = requests.pending()
    if (pending.length > 0) missing = [{ reason: 'resources_pending', detail: describePending(pending) }]
    proxy.finish()
  }
  if (late.aborted) finish()
  else late.addEventListener('abort', finish, { once: true })
  return { missing: () => missing, forget: () => late.removeEventListener('abort', finish) }
}

// Finishes animations, because text that fades in must not be captured half transparent. Endless animations, and
// animations that follow scrolling, are skipped.
const finishAnimations = `() => {
  for (const animation of document.getAnimations())
    if (animation.timeline === document.timeline && animation.playbackRate > 0 && Number.isFinite(animation.effect?.getComputedTiming().endTime)) animation.finish()
}`

async function hideElements(world: PageWorld, selectors: string): Promise<void> {
  if ((await world.run(addHidingRule, selectors)) === 'unreadable')
    throw new RenderFailure('unreachable', `the browser does not understand the selectors of hide: ${selectors}`)
}

const addHidingRule = `(selectors) => {
  const sheet = new CSSStyleSheet()
  try {
    sheet.insertRule(selectors + ' { display: none !important }')
  } catch {
    return 'unreadable'
  }
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
}`

interface Arrival extends WatchedVisit {
  readonly world: PageWorld
}

/** Loads the page, and returns its HTTP status. Undefined for a page that the caller sent. */
async function arrive(
  page: Page,
  { page: target, options }: RenderTask,
  arrival: Arrival,
): Promise<number | undefined> {
  const waitUntil = options.until === 'domcontentloaded' ? 'domcontentloaded' : 'load'
  const navigation = { waitUntil, timeout: arrival.loadTimeoutMs + finishTimeoutMs } as const
  if ('url' in target) return goTo(page, target.url, { ...navigation, watch: arrival.watch })
  await showHtml(page, 'html' in target ? target.html : markdownShell, navigation)
  if ('markdown' in target) await showMarkdown(arrival.world, target.markdown)
  return undefined
}

interface Navigation {
  readonly waitUntil: 'domcontentloaded' | 'load'
  readonly timeout: number
}

async function goTo(
  page: Page,
  url: string,
  { watch, ...navigation }: Navigation & { readonly watch: NavigationWatch },
): Promise<number | undefined> {
  let stands = false
  page.once('domcontentloaded', () => (stands = true))
  let response: HTTPResponse | null = null
  page.on('response', (candidate) => {
    if (candidate.request().isNavigationRequest() && candidate.frame() === page.mainFrame()) response = candidate
  })
  try {
    const arrived = await page.goto(url, navigation)
    return arrived?.status() ?? statusOf(response)
  } catch (error) {
    watch.check()
    if (error instanceof TimeoutError && stands) return statusOf(response)
    if (error instanceof TimeoutError)
      throw new RenderFailure('timeout', 'the page did not load in time', { cause: error })
    throw noPage(error)
  }
}

function statusOf(response: HTTPResponse | null): number | undefined {
  return response?.status()
}

// The browser itself refuses a port of another service, a redirect to another scheme, and a forbidden scheme.
const refusedByBrowser = new Set(['ERR_UNSAFE_PORT', 'ERR_UNSAFE_REDIRECT', 'ERR_BLOCKED_BY_CLIENT'])

/**
 * Returns the failure of a page that did not load. The message contains at most the browser's error code, which is
 * precise enough.
 */
function noPage(error: unknown): RenderFailure {
  const code = /net::(ERR_[A-Z0-9_]+)/.exec(error instanceof Error ? error.message : '')?.[1] ?? ''
  if (refusedByBrowser.has(code)) return new RenderFailure('forbidden', forbiddenMessage, { cause: error })
  const why =
    code === 'ERR_ABORTED'
      ? 'there is no page to show: a download, or no content'
      : `the page could not be loaded: ${code || 'the browser says no more'}`
  return new RenderFailure('unreachable', why, { cause: error })
}

async function showHtml(page: Page, html: string, navigation: Navigation): Promise<void> {
  try {
    await page.setContent(html, navigation)
  } catch (error) {
    // Accept a timeout: the HTML is available immediately, and only its subresources can be late.
    if (!(error instanceof TimeoutError)) throw error
  }
}

import { type Page, TimeoutError } from 'puppeteer'
import { describePending, type PageRequests } from './pageRequests.ts'
import type { PageTimers } from './pageTimers.ts'
import type { PageWorld } from './pageWorld.ts'
import { type MissingContent, type PageWaits, RenderFailure } from './renderer.ts'
import { type Scroll, scrollThrough } from './scrollPage.ts'

/** An open page whose loading is waited for. */
export interface SettledPage {
  readonly page: Page
  readonly world: PageWorld
  readonly requests: PageRequests
  readonly timers: PageTimers
  /** Present when the capture shows more than the first screen. */
  readonly scroll: Scroll | undefined
}

// A page is quiet when neither its requests nor its size have changed for this long.
const quietIdleMs = 50
const quietTimeoutMs = 3_000
// Shorter after scrolling or a wait: a page that was never quiet already had the full time.
const againTimeoutMs = 1_000
const waitForTimeoutMs = 8_000

/** Waits as long as the order asks, and returns what the page still lacked. */
export async function settlePage(target: SettledPage, waits: PageWaits): Promise<readonly MissingContent[]> {
  const { page, world, scroll } = target
  const { until = 'quiet', waitFor, delay = 0 } = waits
  const settle = (timeoutMs = againTimeoutMs) =>
    until === 'quiet' ? awaitQuiet(target, timeoutMs) : Promise.resolve([])
  let missing = await settle(quietTimeoutMs)
  const unmet = waitFor === undefined ? undefined : await awaitElement(page, waitFor)
  if (delay > 0) await pause(delay)
  // The wait may have brought more content, so the page settles again.
  if (waitFor !== undefined || delay > 0) missing = await settle()
  const scrolled = scroll === undefined ? undefined : await scrollThrough(world, { ...scroll, settle })
  return [...(scrolled?.missing ?? missing), unmet, ...(scrolled?.unseen ?? [])].filter((lack) => lack !== undefined)
}

async function awaitQuiet(target: SettledPage, timeoutMs: number): Promise<readonly MissingContent[]> {
  const late = AbortSignal.timeout(timeoutMs)
  const { requests, timers, world } = target
  let [isIdle, isStill] = [false, false]
  // Until all hold at the same time: an answer changes the document, and a change makes requests. A timer that is still
  // waiting at the end lacks nothing that can be named.
  do {
    ;[isIdle, isStill] = await Promise.all([awaitIdle(target, timeoutMs), awaitStill(target, timeoutMs)])
    if (isIdle && isStill && requests.pending().length === 0 && !(await timers.arePending(world))) return []
  } while (isIdle && isStill && !late.aborted)
  const pending = requests.pending()
  return [
    ...(isIdle && pending.length === 0 ? [] : [stillLoading(describePending(pending))]),
    ...(isStill ? [] : [stillChanging]),
  ]
}

const stillLoading = (detail: string): MissingContent => ({ reason: 'still_loading', detail })
const stillChanging: MissingContent = {
  reason: 'still_changing',
  detail: 'the document was still growing or shrinking when the time to wait for it was up',
}

/** Replaces Puppeteer's own wait, which also counts event streams, and these never end. */
async function awaitIdle({ requests }: SettledPage, timeoutMs: number): Promise<boolean> {
  const late = AbortSignal.timeout(timeoutMs)
  let started = -1
  for (;;) {
    if (requests.pending().length === 0 && requests.startedCount() === started) return true
    if (late.aborted) return false
    started = requests.pending().length === 0 ? requests.startedCount() : -1
    await pause(quietIdleMs)
  }
}

// Elements and height, and not every mutation: a clock or a carousel changes without limit and lacks nothing.
const waitUntilStill = `async (idleMs, timeoutMs) => {
  const sign = () => document.getElementsByTagName('*').length + ' ' + document.documentElement.scrollHeight
  const end = document.timeline.currentTime + timeoutMs
  let last = sign()
  let since = document.timeline.currentTime
  while (document.timeline.currentTime < end) {
    await new Promise((resolve) => setTimeout(resolve, idleMs / 2))
    const now = sign()
    if (now !== last) [last, since] = [now, document.timeline.currentTime]
    else if (document.timeline.currentTime - since >= idleMs && document.fonts.status === 'loaded') return true
  }
  return false
}`

async function awaitStill({ world }: SettledPage, timeoutMs: number): Promise<boolean> {
  // A document that went away under the script is replaced by another one, and that is a change.
  return (await world.run(waitUntilStill, quietIdleMs, timeoutMs)) === true
}

async function awaitElement(page: Page, selector: string): Promise<MissingContent | undefined> {
  try {
    const found = await page.waitForSelector(selector, { visible: true, timeout: waitForTimeoutMs })
    await found?.dispose()
    return undefined
  } catch (error) {
    if (!(error instanceof TimeoutError))
      throw new RenderFailure('unreachable', `the browser does not understand the selector of waitFor: ${selector}`, {
        cause: error,
      })
    const detail = `no visible element matched waitFor within ${waitForTimeoutMs} ms: ${selector}`
    return { reason: 'wait_not_met', detail }
  }
}

function pause(ms: number): Promise<void> {
  const late = AbortSignal.timeout(ms)
  return new Promise((resolve) => late.addEventListener('abort', () => resolve(), { once: true }))
}

import { setTimeout as sleep } from 'node:timers/promises'
import { type Page, TimeoutError } from 'puppeteer'
import { describePending, type PageRequests } from './pageRequests.ts'
import type { PageSockets } from './pageSockets.ts'
import type { PageTimers } from './pageTimers.ts'
import type { PageWorld } from './pageWorld.ts'
import { type MissingContent, type PageWaits, RenderFailure } from './renderer.ts'
import { type Scroll, scrollThrough } from './scrollPage.ts'

export interface SettledPage {
  readonly page: Page
  readonly world: PageWorld
  readonly requests: PageRequests
  readonly timers: PageTimers
  readonly sockets: PageSockets
  /** Defined if the capture shows more than the first screen. */
  readonly scroll: Scroll | undefined
}

// Without a change of the requests and the size for this long, a page counts as quiet.
const quietIdleMs = 50
const quietTimeoutMs = 3_000
// Shorter than `quietTimeoutMs`, because the page already had the full time before scrolling or a wait.
const againTimeoutMs = 1_000
const waitForTimeoutMs = 8_000

export async function settlePage(target: SettledPage, waits: PageWaits): Promise<readonly MissingContent[]> {
  const { page, world, scroll } = target
  const { until = 'quiet', waitFor, delay = 0 } = waits
  const settle = (timeoutMs = againTimeoutMs) =>
    until === 'quiet' ? awaitQuiet(target, timeoutMs) : Promise.resolve([])
  let missing = await settle(quietTimeoutMs)
  const unmet = waitFor === undefined ? undefined : await awaitElement(page, waitFor)
  if (delay > 0) await sleep(delay)
  // Let the page settle again, because the wait may have brought more content.
  if (waitFor !== undefined || delay > 0) missing = await settle()
  const scrolled = scroll === undefined ? undefined : await scrollThrough(world, { ...scroll, settle })
  return [...(scrolled?.missing ?? missing), unmet, ...(scrolled?.unseen ?? [])].filter((lack) => lack !== undefined)
}

async function awaitQuiet(target: SettledPage, timeoutMs: number): Promise<readonly MissingContent[]> {
  const late = AbortSignal.timeout(timeoutMs)
  const { requests, timers, sockets, world } = target
  const isWaiting = async () => sockets.silent().length > 0 || (await timers.areDue(world))
  let [isIdle, stillness]: [boolean, Stillness] = [false, 'changing']
  // An answer changes the document, and a change starts requests, so both must be quiet at the same time.
  do {
    ;[isIdle, stillness] = await Promise.all([awaitIdle(target, timeoutMs), awaitStill(target, timeoutMs)])
  } while (isIdle && stillness === 'still' && !late.aborted && (requests.pending().length > 0 || (await isWaiting())))
  const pending = requests.pending()
  const [silent] = sockets.silent()
  return [
    ...(isIdle && pending.length === 0 ? [] : [stillLoading(describePending(pending))]),
    ...(stillness === 'still' ? [] : [unsettled[stillness]]),
    ...((await timers.areSet(world)) ? [timersPending] : []),
    ...(silent === undefined ? [] : [socketSilent(silent)]),
  ]
}

/** `drawing`: the document no longer changes, but a canvas does. */
type Stillness = 'still' | 'changing' | 'drawing'

const stillLoading = (detail: string): MissingContent => ({ reason: 'still_loading', detail })
const unsettled: Record<Exclude<Stillness, 'still'>, MissingContent> = {
  changing: {
    reason: 'still_changing',
    detail: 'the document was still growing or shrinking when the time to wait for it was up',
  },
  drawing: {
    reason: 'still_drawing',
    detail: 'a canvas was still being drawn when the time to wait for it was up',
  },
}
const timersPending: MissingContent = {
  reason: 'timers_pending',
  detail: 'scripts had set a timer of a few seconds that had not run, and what it changes was not captured',
}

const shownUrlLengthMax = 200

function socketSilent(url: string): MissingContent {
  const detail = `a socket or stream of events was open and had brought nothing: ${url.slice(0, shownUrlLengthMax)}`
  return { reason: 'socket_silent', detail }
}

/**
 * Waits until no request is pending, because Puppeteer's own wait also counts event streams, which never end. False at
 * the timeout.
 */
async function awaitIdle({ requests }: SettledPage, timeoutMs: number): Promise<boolean> {
  const late = AbortSignal.timeout(timeoutMs)
  let started = -1
  while (requests.pending().length > 0 || requests.startedCount() !== started) {
    if (late.aborted) return false
    started = requests.pending().length === 0 ? requests.startedCount() : -1
    await sleep(quietIdleMs)
  }
  return true
}

/*
 * Compares the number of elements and the height instead of every mutation, because a clock or a carousel changes
 * forever without missing content. Also compares small copies of the first canvases, because a chart is drawn in
 * several frames. A canvas with a picture of another site cannot be read.
 */
const waitUntilStill = `async (idleMs, timeoutMs) => {
  const size = () => document.getElementsByTagName('*').length + ' ' + document.documentElement.scrollHeight
  const copy = () => new OffscreenCanvas(64, 64).getContext('2d', { willReadFrequently: true })
  let pen = copy()
  const drawn = () => {
    let sum = 0
    for (const canvas of [...document.getElementsByTagName('canvas')].slice(0, 8)) {
      if (canvas.width * canvas.height === 0 || canvas.width * canvas.height > 8_000_000) continue
      try {
        pen.clearRect(0, 0, 64, 64)
        pen.drawImage(canvas, 0, 0, 64, 64)
        for (const value of pen.getImageData(0, 0, 64, 64).data) sum = (Math.imul(sum, 31) + value) | 0
      } catch {
        pen = copy()
      }
    }
    return sum
  }
  const now = () => document.timeline.currentTime
  const end = now() + timeoutMs
  let [lastSize, lastDrawn, sizedAt, drawnAt] = [size(), drawn(), now(), now()]
  while (now() < end) {
    await new Promise((resolve) => setTimeout(resolve, idleMs / 2))
    const [newSize, newDrawn] = [size(), drawn()]
    if (newSize !== lastSize) [lastSize, sizedAt] = [newSize, now()]
    if (newDrawn !== lastDrawn) [lastDrawn, drawnAt] = [newDrawn, now()]
    const idleAt = now() - idleMs
    if (sizedAt <= idleAt && drawnAt <= idleAt && document.fonts.status === 'loaded') return 'still'
  }
  return sizedAt <= now() - idleMs && drawnAt > now() - 4 * idleMs && document.fonts.status === 'loaded' ? 'drawing' : 'changing'
}`

async function awaitStill({ world }: SettledPage, timeoutMs: number): Promise<Stillness> {
  const seen = await world.run(waitUntilStill, quietIdleMs, timeoutMs)
  // Undefined means that the document was replaced, which counts as a change.
  return seen === 'still' || seen === 'drawing' ? seen : 'changing'
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

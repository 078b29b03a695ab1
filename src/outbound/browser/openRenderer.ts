import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../../primitives/log.ts'
import { type BrowserPool, openBrowserPool } from './browserPool.ts'
import { checkChromiumPath } from './chromium.ts'
import { capturePdf, captureScreenshot, documentHeightMax, heightMaxOf, viewportOfPdf } from './capture.ts'
import { createPaymentBudgets, type PaymentBudgets } from './paymentBudgets.ts'
import { type Egress, renderJob } from './renderJob.ts'
import { createRenderQueue, type RenderQueue, type RenderTurn } from './renderQueue.ts'
import type { RenderTask } from './renderTask.ts'
import {
  type Customer,
  type PdfOrder,
  RenderFailure,
  type Rendered,
  type Renderer,
  type ScreenshotOrder,
} from './renderer.ts'

export interface RendererDeps {
  readonly clock: Clock
  readonly log: Log
  readonly egress: Egress
  readonly chromiumPath: string | undefined
  /** Jobs at once; 0: nothing is rendered here. */
  readonly concurrency: number
  /** Browser time that one payment buys, over all its attempts. */
  readonly paymentTimeMs?: number
  readonly limits?: Partial<RenderLimits>
}

export interface RenderLimits {
  /** A job is ended after this time, whatever its page does. */
  readonly jobTimeoutMs: number
  /** A page has this long to load; the rest of the job's time is for the capture. */
  readonly loadTimeoutMs: number
  readonly jobsPerBrowserMax: number
}

// Below the time of a handler, 30 s by default, so that a job that waited a while still has its time.
const limitsDefault: RenderLimits = { jobTimeoutMs: 20_000, loadTimeoutMs: 12_000, jobsPerBrowserMax: 200 }
const paymentTimeMsDefault = 30_000
// A page leaves its place after a second without traffic, so this many for each place are served within the time of a
// handler. A caller who has paid by then is not turned away, so the queue itself is longer.
const waitingPerPlaceMax = 10
const queuePerPlaceMax = 50
// Pages that get nothing cost memory, some 50 MB each, and no processor time.
const stalledPerPlaceMax = 4

/** Throws for a CHROMIUM_PATH that is wrong. Everything else that is missing shows in `whyUnavailable`. */
export async function openRenderer(deps: RendererDeps): Promise<Renderer> {
  if (deps.concurrency === 0) return { ...switchedOff, allowHosts: deps.egress.allowHosts }
  await checkChromiumPath(deps.chromiumPath)
  const { clock, egress, concurrency, paymentTimeMs = paymentTimeMsDefault } = deps
  const limits = { ...limitsDefault, ...deps.limits }
  const browsers = openBrowserPool({ ...deps, ...limits, guardArguments: egress.browserArguments })
  const queue = createRenderQueue({
    clock,
    placesMax: concurrency,
    waitingMax: concurrency * queuePerPlaceMax,
    stalledMax: concurrency * stalledPerPlaceMax,
  })
  const budgets = createPaymentBudgets({ clock, paymentTimeMs })
  const render = (task: RenderTask, customer: Customer) =>
    renderInTurn({ browsers, egress, queue, budgets, limits }, task, customer)
  return {
    allowHosts: deps.egress.allowHosts,
    whyUnavailable: (newcomer = true) =>
      newcomer && queue.aheadOfNewcomerCount() >= concurrency * waitingPerPlaceMax
        ? 'too many pages are being rendered'
        : browsers.whyUnavailable(),
    problem: browsers.problem,
    screenshot: (order, customer) => render(screenshotTask(order), customer),
    pdf: (order, customer) => render(pdfTask(order), customer),
    close: () => browsers.close(),
  }
}

export function screenshotTask(order: ScreenshotOrder): RenderTask {
  const { url, width, height, fullPage, deviceScale = 1, isMobile = false } = order
  return {
    page: { url },
    viewport: { width, height, deviceScaleFactor: deviceScale, isMobile },
    options: order,
    scroll: fullPage ? { heightMax: heightMaxOf({ width, deviceScale }), isCutThere: true } : undefined,
    isPrinted: false,
    capture: (page) => captureScreenshot(page, order),
  }
}

export function pdfTask(order: PdfOrder): RenderTask {
  return {
    page: order.page,
    viewport: viewportOfPdf,
    options: order,
    scroll: { heightMax: documentHeightMax, isCutThere: false },
    isPrinted: true,
    capture: (page) => capturePdf(page, order),
  }
}

interface Rendering {
  readonly browsers: BrowserPool
  readonly egress: Egress
  readonly queue: RenderQueue
  readonly budgets: PaymentBudgets
  readonly limits: RenderLimits
}

async function renderInTurn(deps: Rendering, task: RenderTask, customer: Customer): Promise<Rendered> {
  const { queue, budgets } = deps
  const turn = await queue.enter({ ...customer, site: siteOf(task, customer) })
  if (turn === 'full') throw new RenderFailure('broken', 'too many pages are waiting')
  if (turn === 'aborted') throw new RenderFailure('timeout', 'the page waited too long for its turn')
  const spending = budgets.start(customer.payment)
  try {
    return await renderWithin(deps, task, { turn, signal: customer.signal, leftMs: spending.leftMs })
  } catch (error) {
    spending.end()
    if (error instanceof RenderFailure && !error.endsPayment && spending.isSpent())
      throw new RenderFailure(error.kind, error.message, { cause: error, endsPayment: true })
    throw error
  } finally {
    spending.end()
    turn.leave()
  }
}

/** Names of one owner share a turn: everyone can make any number of names below their own. */
function siteOf({ page }: RenderTask, { payer }: Customer): string {
  if (!('url' in page)) return payer
  const hostname = URL.parse(page.url)?.hostname ?? ''
  return /^[\d.]+$|^\[/.test(hostname) ? hostname : hostname.split('.').slice(-2).join('.')
}

interface TurnInProgress {
  readonly turn: RenderTurn
  readonly signal: AbortSignal
  readonly leftMs: number
}

// A page that is hurried is captured as it is; one that cannot be, such as a script without end, is ended.
const hurriedTimeoutMs = 3_000

async function renderWithin(
  { browsers, egress, limits }: Rendering,
  task: RenderTask,
  { turn, signal, leftMs }: TurnInProgress,
): Promise<Rendered> {
  const lease = await browsers.take().catch((cause: unknown) => {
    throw new RenderFailure('broken', 'no browser could be started', { cause })
  })
  const ended = new AbortController()
  const jobTimeoutMs = Math.min(limits.jobTimeoutMs, leftMs)
  const hung = AbortSignal.timeout(jobTimeoutMs)
  const endHurried = (): void => void setTimeout(() => ended.abort(), hurriedTimeoutMs).unref()
  turn.hurry.addEventListener('abort', endHurried, { once: true })
  const outcome = await renderJob(lease.browser, task, {
    egress,
    signal: AbortSignal.any([signal, hung, ended.signal]),
    loadTimeoutMs: limits.loadTimeoutMs,
    hurry: turn.hurry,
    onStall: turn.stall,
  })
  lease.giveBack(outcome.obeyed ? 'sound' : 'spoiled')
  if (!('failure' in outcome)) return outcome.rendered
  const { failure } = outcome
  // The page was not hurried, the caller still waits, and the time was up: no other attempt will be better.
  const isItsOwnDoing = failure.kind === 'timeout' && !turn.hurry.aborted && !signal.aborted
  if (isItsOwnDoing) throw new RenderFailure('timeout', failure.message, { cause: failure, endsPayment: true })
  throw failure
}

const switchedOff: Omit<Renderer, 'allowHosts'> = {
  whyUnavailable: () => 'this server renders no pages',
  problem: () => undefined,
  screenshot: () => Promise.reject(new RenderFailure('broken', 'this server renders no pages')),
  pdf: () => Promise.reject(new RenderFailure('broken', 'this server renders no pages')),
  close: () => Promise.resolve(),
}

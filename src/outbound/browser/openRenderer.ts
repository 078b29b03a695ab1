import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../../primitives/log.ts'
import { type BrowserPool, openBrowserPool } from './browserPool.ts'
import { checkChromiumPath } from './chromium.ts'
import { capturePdf, captureScreenshot, viewportOfPdf } from './capture.ts'
import { type Egress, renderJob } from './renderJob.ts'
import { createRenderQueue } from './renderQueue.ts'
import type { RenderTask } from './renderTask.ts'
import { RenderFailure, type Rendered, type Renderer } from './renderer.ts'

export interface RendererDeps {
  readonly clock: Clock
  readonly log: Log
  readonly egress: Egress
  readonly chromiumPath: string | undefined
  /** Jobs at once; 0: nothing is rendered here. */
  readonly concurrency: number
  readonly limits?: Partial<RenderLimits>
}

export interface RenderLimits {
  /** A job is ended after this time, whatever its page does. */
  readonly jobTimeoutMs: number
  readonly jobsPerBrowserMax: number
}

// Below the time of a handler, 30 s by default, so that a job that waited a while still has its time.
const limitsDefault: RenderLimits = { jobTimeoutMs: 20_000, jobsPerBrowserMax: 200 }
// A job takes 0.2 s as a rule and 20 s at worst. No more are let in when this many wait for each place; who has paid by
// then is not turned away, so the queue itself is longer.
const waitingPerPlaceMax = 4
const queuePerPlaceMax = 50

/** Throws for a CHROMIUM_PATH that is wrong. Everything else that is missing shows in `whyUnavailable`. */
export async function openRenderer(deps: RendererDeps): Promise<Renderer> {
  if (deps.concurrency === 0) return { ...switchedOff, allowHosts: deps.egress.allowHosts }
  await checkChromiumPath(deps.chromiumPath)
  const { egress, concurrency } = deps
  const limits = { ...limitsDefault, ...deps.limits }
  const browsers = openBrowserPool({ ...deps, ...limits, guardArguments: egress.browserArguments })
  const queue = createRenderQueue({ placesMax: concurrency, waitingMax: concurrency * queuePerPlaceMax })
  const render = async (task: RenderTask, signal: AbortSignal): Promise<Rendered> => {
    const entry = await queue.enter(signal)
    if (entry === 'full') throw new RenderFailure('broken', 'too many pages are waiting')
    if (entry === 'aborted') throw new RenderFailure('timeout', 'the page waited too long for its turn')
    try {
      return await renderWithin({ browsers, egress, task, signal, limits })
    } finally {
      queue.leave()
    }
  }
  return {
    allowHosts: deps.egress.allowHosts,
    whyUnavailable: () =>
      queue.waitingCount() >= concurrency * waitingPerPlaceMax
        ? 'too many pages are being rendered'
        : browsers.whyUnavailable(),
    problem: browsers.problem,
    screenshot: (order, signal) =>
      render({ page: order, viewport: order, capture: (page) => captureScreenshot(page, order) }, signal),
    pdf: (order, signal) =>
      render({ page: order.page, viewport: viewportOfPdf, capture: (page) => capturePdf(page, order) }, signal),
    close: () => browsers.close(),
  }
}

interface Rendering {
  readonly browsers: BrowserPool
  readonly egress: Egress
  readonly task: RenderTask
  readonly signal: AbortSignal
  readonly limits: RenderLimits
}

async function renderWithin({ browsers, egress, task, signal, limits }: Rendering): Promise<Rendered> {
  const lease = await browsers.take().catch((error: unknown) => {
    throw new RenderFailure('broken', 'no browser could be started', error)
  })
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(limits.jobTimeoutMs)])
  const outcome = await renderJob(lease.browser, task, { egress, signal: deadline })
  lease.giveBack(outcome.obeyed ? 'sound' : 'spoiled')
  if ('failure' in outcome) throw outcome.failure
  return outcome.rendered
}

const switchedOff: Omit<Renderer, 'allowHosts'> = {
  whyUnavailable: () => 'this server renders no pages',
  problem: () => undefined,
  screenshot: () => Promise.reject(new RenderFailure('broken', 'this server renders no pages')),
  pdf: () => Promise.reject(new RenderFailure('broken', 'this server renders no pages')),
  close: () => Promise.resolve(),
}

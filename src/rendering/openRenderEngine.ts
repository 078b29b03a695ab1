import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../machine/log.ts'
import { type BrowserLease, type BrowserPool, openBrowserPool } from './browserPool.ts'
import { checkChromiumPath } from './chromium.ts'
import type { RenderBounds, RenderEngine, RenderWork } from './renderEngine.ts'
import { type Egress, type JobOutcome, renderJob } from './renderJob.ts'
import { RenderFailure, type Rendered } from './renderer.ts'
import { renderTaskOf } from './renderTask.ts'

export interface RenderEngineDeps {
  readonly clock: Clock
  readonly log: Log
  readonly egress: Egress
  readonly chromiumPath: string | undefined
  readonly limits?: Partial<EngineLimits>
  /** Called when the result of `whyUnavailable` or `problem` may have changed. */
  readonly onChange?: () => void
}

export interface EngineLimits {
  /** Milliseconds for a page to load. The rest of the job's time is for the capture. */
  readonly loadTimeoutMs: number
  readonly jobsPerBrowserMax: number
}

const limitsDefault: EngineLimits = { loadTimeoutMs: 12_000, jobsPerBrowserMax: 200 }

/** Opens the engine. Throws if CHROMIUM_PATH is wrong. `whyUnavailable` reports every other missing requirement. */
export async function openRenderEngine(deps: RenderEngineDeps): Promise<RenderEngine> {
  await checkChromiumPath(deps.chromiumPath)
  const limits = { ...limitsDefault, ...deps.limits }
  const { egress } = deps
  const browsers = openBrowserPool({ ...deps, ...limits, guardArguments: egress.browserArguments })
  return {
    whyUnavailable: browsers.whyUnavailable,
    problem: browsers.problem,
    render: (work, bounds) => render({ browsers, egress, limits }, work, bounds),
    close: () => browsers.close(),
  }
}

interface Rendering {
  readonly browsers: BrowserPool
  readonly egress: Egress
  readonly limits: EngineLimits
}

// A hurried page is captured in its current state, but the capture of a page with an endless script would never finish.
const hurriedTimeoutMs = 3_000

async function render(deps: Rendering, work: RenderWork, bounds: RenderBounds): Promise<Rendered> {
  const { timeoutMs, signal, hurry, standing } = bounds
  const ended = new AbortController()
  const endHurried = (): void => void setTimeout(() => ended.abort(), hurriedTimeoutMs).unref()
  hurry.addEventListener('abort', endHurried, { once: true })
  const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs), ended.signal])
  const { take, takeAlone } = deps.browsers
  if (standing !== 'suspect') {
    const shared = await attempt(deps, work, { ...bounds, until, take })
    if (!shared.isBrowserLost || until.aborted) return resultOf(shared.outcome, bounds)
  }
  // Use a separate browser, because any page of a shared browser may have ended it. A second crash
  // proves that this page causes it.
  const alone = await attempt(deps, work, { ...bounds, until, take: () => takeAlone(until) })
  if (alone.isBrowserLost) throw new RenderFailure('broken', 'the page ended the browser', { endsPayment: true })
  return resultOf(alone.outcome, bounds)
}

interface AttemptBounds extends RenderBounds {
  readonly until: AbortSignal
  readonly take: () => Promise<BrowserLease>
}

interface Attempt {
  readonly outcome: JobOutcome
  readonly isBrowserLost: boolean
}

async function attempt({ egress, limits }: Rendering, work: RenderWork, bounds: AttemptBounds): Promise<Attempt> {
  const { until: signal, hurry, onStall, onBrowserLost } = bounds
  const lease = await leaseFor(bounds)
  const { loadTimeoutMs } = limits
  const outcome = await renderJob(lease.browser, renderTaskOf(work), { egress, signal, loadTimeoutMs, hurry, onStall })
  const isBrowserLost = 'failure' in outcome && !lease.browser.connected
  if (isBrowserLost) onBrowserLost()
  lease.giveBack(outcome.obeyed ? 'sound' : 'spoiled')
  return { outcome, isBrowserLost }
}

// After this wait for a browser, the job gives up its place to another job.
const browserWaitMsMax = 1_000

/** Waits for a browser until the job ends. A browser that becomes available later is given back. */
async function leaseFor({ take, until, onStall }: AttemptBounds): Promise<BrowserLease> {
  const waiting = setTimeout(onStall, browserWaitMsMax)
  const taking = take()
  const ended = Promise.withResolvers<never>()
  const giveUp = (): void => ended.reject(until.reason)
  until.addEventListener('abort', giveUp, { once: true })
  if (until.aborted) giveUp()
  try {
    return await Promise.race([taking, ended.promise])
  } catch (cause) {
    taking.then((lease) => lease.giveBack('sound')).catch(() => undefined)
    if (until.aborted) throw new RenderFailure('timeout', 'the page waited too long for a browser', { cause })
    throw new RenderFailure('broken', 'no browser could be started', { cause })
  } finally {
    until.removeEventListener('abort', giveUp)
    clearTimeout(waiting)
  }
}

function resultOf(outcome: JobOutcome, { hurry, signal }: RenderBounds): Rendered {
  if (!('failure' in outcome)) return outcome.rendered
  const { failure } = outcome
  // A page that timed out by itself would time out again. A hurried or abandoned page did not cause its timeout.
  const isItsOwnDoing = failure.kind === 'timeout' && !hurry.aborted && !signal.aborted
  if (isItsOwnDoing) throw new RenderFailure('timeout', failure.message, { cause: failure, endsPayment: true })
  throw failure
}

import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../../primitives/log.ts'
import { type BrowserPool, openBrowserPool } from './browserPool.ts'
import { checkChromiumPath } from './chromium.ts'
import type { RenderBounds, RenderEngine, RenderWork } from './renderEngine.ts'
import { type Egress, renderJob } from './renderJob.ts'
import { RenderFailure, type Rendered } from './renderer.ts'
import { renderTaskOf } from './renderTaskOf.ts'

export interface RenderEngineDeps {
  readonly clock: Clock
  readonly log: Log
  readonly egress: Egress
  readonly chromiumPath: string | undefined
  readonly limits?: Partial<EngineLimits>
  /** The answers of `whyUnavailable` and `problem` may have changed. */
  readonly onChange?: () => void
}

export interface EngineLimits {
  /** A page has this long to load; the rest of the job's time is for the capture. */
  readonly loadTimeoutMs: number
  readonly jobsPerBrowserMax: number
}

const limitsDefault: EngineLimits = { loadTimeoutMs: 12_000, jobsPerBrowserMax: 200 }

/**
 * An engine in this process. Throws for a CHROMIUM_PATH that is wrong. Everything else that is missing shows in
 * `whyUnavailable`.
 */
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

// A page that is hurried is captured as it is; one that cannot be, such as a script without end, is ended.
const hurriedTimeoutMs = 3_000

async function render(
  { browsers, egress, limits }: Rendering,
  work: RenderWork,
  { timeoutMs, signal, hurry, onStall }: RenderBounds,
): Promise<Rendered> {
  const lease = await browsers.take().catch((cause: unknown) => {
    throw new RenderFailure('broken', 'no browser could be started', { cause })
  })
  const ended = new AbortController()
  const endHurried = (): void => void setTimeout(() => ended.abort(), hurriedTimeoutMs).unref()
  hurry.addEventListener('abort', endHurried, { once: true })
  const outcome = await renderJob(lease.browser, renderTaskOf(work), {
    egress,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs), ended.signal]),
    loadTimeoutMs: limits.loadTimeoutMs,
    hurry,
    onStall,
  })
  lease.giveBack(outcome.obeyed ? 'sound' : 'spoiled')
  if (!('failure' in outcome)) return outcome.rendered
  const { failure } = outcome
  // The page was not hurried, the caller still waits, and the time was up: no other attempt will be better.
  const isItsOwnDoing = failure.kind === 'timeout' && !hurry.aborted && !signal.aborted
  if (isItsOwnDoing) throw new RenderFailure('timeout', failure.message, { cause: failure, endsPayment: true })
  throw failure
}

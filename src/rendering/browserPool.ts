import type { Browser } from 'puppeteer'
import type { Clock } from '@tollbook/core/clock'
import { describeError, Fault } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import { removeAbandonedHomes } from './browserHome.ts'
import { findChromiums } from './chromium.ts'
import { createPermits, type Permits } from '../machine/permits.ts'
import { pauseBeforeRetry } from './pauseBeforeRetry.ts'
import { launchModesHere, type LaunchedBrowser, launchBrowser, type Recipe } from './launchBrowser.ts'

export type BrowserPool = ReturnType<typeof openBrowserPool>

/** Every job must give the browser back, also after a failure. */
export interface BrowserLease {
  readonly browser: Browser
  /** `spoiled`: the browser did not close the job's page, so the next job gets another browser. */
  giveBack(state: 'sound' | 'spoiled'): void
}

export interface BrowserPoolDeps {
  readonly clock: Clock
  readonly log: Log
  readonly chromiumPath: string | undefined
  readonly guardArguments: readonly string[]
  /** A browser is replaced after this many jobs, because each closed context leaves some memory in it. */
  readonly jobsPerBrowserMax: number
  /** Called when the result of `whyUnavailable` or `problem` may have changed. */
  readonly onChange?: () => void
}

// A crash can leave many pages that each need a separate browser, and their simultaneous starts would take the
// processors from all other pages.
const aloneMax = 2

interface BrowserPoolState extends BrowserPoolDeps {
  recipe: Recipe | undefined
  current: Promise<OpenBrowser> | undefined
  /** Undefined before a failed start and after a successful one. `count` is the number of failures in a row. */
  failure: { readonly reason: string; readonly count: number } | undefined
  readonly open: Set<OpenBrowser>
  readonly alonePermits: Permits
  readonly startingAlone: Set<Promise<OpenBrowser>>
  readonly closing: AbortController
}

interface OpenBrowser {
  readonly launched: LaunchedBrowser
  jobs: number
  leases: number
  retired: boolean
  ended: Promise<void> | undefined
}

/** Opens the pool. A browser starts in the background, so that the service does not wait for it. */
export function openBrowserPool(deps: BrowserPoolDeps) {
  const pool: BrowserPoolState = {
    ...deps,
    recipe: undefined,
    current: undefined,
    failure: undefined,
    open: new Set(),
    alonePermits: createPermits(aloneMax),
    startingAlone: new Set(),
    closing: new AbortController(),
  }
  startInBackground(pool)
  return {
    whyUnavailable: () => whyUnavailable(pool),
    problem: () => pool.failure?.reason,
    take: async () => leaseOf(pool, await current(pool)),
    /**
     * Starts a separate browser, for a job whose page may have ended the shared one. Waits while `aloneMax` separate
     * browsers run.
     */
    takeAlone: (signal: AbortSignal) => takeAlone(pool, signal),
    close: () => close(pool),
  }
}

/** Starts a browser in the background. Ignores a rejection: `failure` and the log contain the cause. */
function startInBackground(pool: BrowserPoolState): void {
  pool.current ??= start(pool)
  pool.current.catch(() => undefined)
}

function whyUnavailable({ failure, recipe }: BrowserPoolState): string | undefined {
  if (failure !== undefined) return failure.reason
  return recipe === undefined ? 'the browser is being started; try again in a few seconds' : undefined
}

/**
 * Returns the shared browser, and starts one if there is none. After a failed start, rejects instead of retrying,
 * because the pool itself retries with growing pauses.
 */
function current(pool: BrowserPoolState): Promise<OpenBrowser> {
  if (pool.current === undefined && pool.failure !== undefined)
    return Promise.reject(new Fault(pool.failure.reason, { retryable: true }))
  pool.current ??= start(pool)
  return pool.current
}

async function start(pool: BrowserPoolState): Promise<OpenBrowser> {
  try {
    const opened = await open(pool)
    const { launched } = opened
    pool.failure = undefined
    pool.onChange?.()
    launched.browser.once('disconnected', () => retire(pool, opened))
    if (pool.closing.signal.aborted) retire(pool, opened)
    return opened
  } catch (error) {
    pool.current = undefined
    const count = (pool.failure?.count ?? 0) + 1
    pool.failure = { reason: 'no browser can be started on this server at the moment', count }
    pool.onChange?.()
    if (!pool.closing.signal.aborted) {
      pool.log.warn({ event: 'browser_not_started', failures: count, error: describeError(error) })
      void retryLater(pool, count)
    }
    throw error
  }
}

async function open(pool: BrowserPoolState): Promise<OpenBrowser> {
  const launched = await launch(pool)
  const opened: OpenBrowser = { launched, jobs: 0, leases: 0, retired: false, ended: undefined }
  pool.open.add(opened)
  return opened
}

async function takeAlone(pool: BrowserPoolState, signal: AbortSignal): Promise<BrowserLease> {
  const leavePermit = await pool.alonePermits.enter(signal)
  try {
    const opened = await startAlone(pool)
    const { browser, giveBack } = leaseOf(pool, opened)
    return {
      browser,
      giveBack(state) {
        giveBack(state)
        void endOf(pool, opened).then(leavePermit)
      },
    }
  } catch (error) {
    leavePermit()
    throw error
  }
}

/** Starts a separate browser. It is marked as retired from the start, so that it closes after this job. */
async function startAlone(pool: BrowserPoolState): Promise<OpenBrowser> {
  pool.closing.signal.throwIfAborted()
  const starting = open(pool).then((opened) => Object.assign(opened, { retired: true }))
  pool.startingAlone.add(starting)
  return starting.finally(() => pool.startingAlone.delete(starting))
}

/** Retries, because an operator may install a browser while the service runs. */
async function retryLater(pool: BrowserPoolState, failures: number): Promise<void> {
  if (await pauseBeforeRetry(pool.clock, failures, pool.closing.signal)) startInBackground(pool)
}

async function launch(pool: BrowserPoolState): Promise<LaunchedBrowser> {
  const { signal } = pool.closing
  const options = { ...pool, signal }
  if (pool.recipe !== undefined) return launchBrowser(pool.recipe, options)
  await removeAbandonedHomes()
  const obstacles: string[] = []
  for await (const chromium of findChromiums(pool.chromiumPath, signal))
    for (const mode of launchModesHere()) {
      const recipe = { chromium, mode }
      try {
        const launched = await launchBrowser(recipe, options)
        pool.recipe = recipe
        await announce(pool, launched, recipe)
        return launched
      } catch (error) {
        signal.throwIfAborted()
        obstacles.push(`${chromium.source} ${chromium.path}: ${firstLine(error)}`)
        pool.log.debug({ event: 'browser_attempt_failed', ...mode, ...chromium, error: describeError(error) })
      }
    }
  throw new Fault(`no browser starts here (${obstacles.join('; ') || 'there is none'}). ${remedy}`, { retryable: true })
}

const remedy =
  'Install one (Debian: apt-get install chromium-headless-shell; or npx puppeteer browsers install chrome-headless-shell), or name one with CHROMIUM_PATH'

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 3).join(' ').slice(0, 300)
}

async function announce(
  { log }: BrowserPoolState,
  { browser }: LaunchedBrowser,
  { chromium, mode }: Recipe,
): Promise<void> {
  log.info({ event: 'browser_ready', ...chromium, ...mode, version: await browser.version() })
  if (mode.sandboxed) return
  log.warn({
    event: 'browser_unsandboxed',
    remedy: "the browser's own sandbox does not work here: allow unprivileged user namespaces (docs/rendering.md)",
    asRoot: process.getuid?.() === 0 && !mode.dropsRoot,
  })
}

function leaseOf(pool: BrowserPoolState, opened: OpenBrowser): BrowserLease {
  opened.jobs++
  opened.leases++
  if (opened.jobs >= pool.jobsPerBrowserMax) retire(pool, opened)
  let held = true
  return {
    browser: opened.launched.browser,
    giveBack(state) {
      if (!held) return
      held = false
      opened.leases--
      if (state === 'spoiled') retire(pool, opened)
      if (opened.retired && opened.leases === 0) void endOf(pool, opened)
    },
  }
}

/** Gives no more jobs to the browser, and closes it when the last lease ends. */
function retire(pool: BrowserPoolState, opened: OpenBrowser): void {
  if (opened.retired) return
  opened.retired = true
  pool.current = undefined
  if (opened.leases === 0) void endOf(pool, opened)
}

/** Ends the browser. Never rejects: a failure is logged. */
function endOf(pool: BrowserPoolState, opened: OpenBrowser): Promise<void> {
  opened.ended ??= opened.launched.end().then(
    () => void pool.open.delete(opened),
    (error: unknown) => pool.log.warn({ event: 'browser_not_ended', error: describeError(error) }),
  )
  return opened.ended
}

async function close(pool: BrowserPoolState): Promise<void> {
  pool.closing.abort()
  // Wait for browsers that are starting, because they would otherwise keep running.
  await Promise.allSettled([pool.current, ...pool.startingAlone])
  await Promise.all([...pool.open].map((opened) => endOf(pool, Object.assign(opened, { retired: true }))))
}

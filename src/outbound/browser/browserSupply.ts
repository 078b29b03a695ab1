import type { Browser } from 'puppeteer'
import type { Clock } from '@tollbook/core/clock'
import { describeError, Fault } from '@tollbook/core/fault'
import type { Log } from '../../primitives/log.ts'
import { removeAbandonedHomes } from './browserHome.ts'
import { type Chromium, findChromiums } from './chromium.ts'
import { footingsHere, type LaunchedBrowser, launchBrowser, type Recipe } from './launchBrowser.ts'

/** One warm browser for many jobs; a new one when it has had enough of them, or is gone. */
export interface BrowserSupply {
  /** Undefined when a browser is there, or can be had at once. */
  whyUnavailable(): string | undefined
  /** A browser for one job. It stays open until it is given back. */
  take(): Promise<Lease>
  close(): Promise<void>
}

export interface Lease {
  readonly browser: Browser
  /** `spoiled`: it did not obey, and the next job gets another. */
  giveBack(state: 'sound' | 'spoiled'): void
}

export interface SupplyDeps {
  readonly clock: Clock
  readonly log: Log
  readonly chromiumPath: string | undefined
  readonly guardArguments: readonly string[]
  /** Measured: each context that was closed leaves some 60 kB behind in the browser process. */
  readonly jobsPerBrowserMax: number
}

// A machine without a browser may get one while we run; a browser that cannot start now may start later.
const retryPauseMs = 60_000

interface Supply extends SupplyDeps {
  recipe: Recipe | undefined
  current: Promise<Kept> | undefined
  /** Why the last start failed, and when. */
  failure: { readonly reason: string; readonly atMs: number } | undefined
  readonly kept: Set<Kept>
  readonly closing: AbortController
}

/** A browser that is open. */
interface Kept {
  readonly launched: LaunchedBrowser
  jobs: number
  leases: number
  retired: boolean
  ended: Promise<void> | undefined
}

/** Starts in the background: nobody waits for a browser to learn that the service is up. */
export function openBrowserSupply(deps: SupplyDeps): BrowserSupply {
  const supply: Supply = {
    ...deps,
    recipe: undefined,
    current: undefined,
    failure: undefined,
    kept: new Set(),
    closing: new AbortController(),
  }
  startInBackground(supply)
  return {
    whyUnavailable: () => whyUnavailable(supply),
    take: () => take(supply),
    close: () => close(supply),
  }
}

function startInBackground(supply: Supply): void {
  // What went wrong is in `failure` and in the log.
  current(supply).catch(() => undefined)
}

function whyUnavailable(supply: Supply): string | undefined {
  const { failure, recipe, clock } = supply
  if (failure !== undefined) {
    if (clock.monotonicMs() - failure.atMs > retryPauseMs) startInBackground(supply)
    return failure.reason
  }
  return recipe === undefined ? 'the browser is being started; try again in a few seconds' : undefined
}

function current(supply: Supply): Promise<Kept> {
  supply.current ??= start(supply)
  return supply.current
}

async function start(supply: Supply): Promise<Kept> {
  try {
    const launched = await launch(supply)
    const kept: Kept = { launched, jobs: 0, leases: 0, retired: false, ended: undefined }
    supply.kept.add(kept)
    supply.failure = undefined
    launched.browser.once('disconnected', () => retire(supply, kept))
    if (supply.closing.signal.aborted) retire(supply, kept)
    return kept
  } catch (error) {
    supply.current = undefined
    supply.failure = {
      reason: 'no browser can be started on this server at the moment',
      atMs: supply.clock.monotonicMs(),
    }
    if (!supply.closing.signal.aborted) supply.log.warn({ event: 'browser_not_started', error: describeError(error) })
    throw error
  }
}

/** The way that worked before, or the first that works of all there are. */
async function launch(supply: Supply): Promise<LaunchedBrowser> {
  const { signal } = supply.closing
  const options = { ...supply, signal }
  if (supply.recipe !== undefined) return launchBrowser(supply.recipe, options)
  await removeAbandonedHomes()
  const obstacles: string[] = []
  for await (const chromium of findChromiums(supply.chromiumPath, signal))
    for (const footing of footingsHere()) {
      const recipe = { chromium, footing }
      try {
        const launched = await launchBrowser(recipe, options)
        supply.recipe = recipe
        await announce(supply, launched, recipe)
        return launched
      } catch (error) {
        signal.throwIfAborted()
        obstacles.push(`${nameOf(chromium)}: ${firstLine(error)}`)
        supply.log.debug({ event: 'browser_attempt_failed', ...footing, ...chromium, error: describeError(error) })
      }
    }
  throw new Fault(`no browser starts here (${obstacles.join('; ') || 'there is none'}). ${remedy}`, { retryable: true })
}

const remedy =
  'Install one (Debian: apt-get install chromium-headless-shell; or npx puppeteer browsers install chrome-headless-shell), or name one with CHROMIUM_PATH'

function nameOf({ source, path }: Chromium): string {
  return `${source} ${path}`
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 3).join(' ').slice(0, 300)
}

async function announce({ log }: Supply, { browser }: LaunchedBrowser, { chromium, footing }: Recipe): Promise<void> {
  log.info({ event: 'browser_ready', ...chromium, ...footing, version: await browser.version() })
  if (footing.sandboxed) return
  log.warn({
    event: 'browser_unsandboxed',
    remedy: "the browser's own sandbox does not work here: allow unprivileged user namespaces (docs/rendering.md)",
    asRoot: process.getuid?.() === 0 && !footing.dropsRoot,
  })
}

async function take(supply: Supply): Promise<Lease> {
  const kept = await current(supply)
  kept.jobs++
  kept.leases++
  if (kept.jobs >= supply.jobsPerBrowserMax) retire(supply, kept)
  let held = true
  return {
    browser: kept.launched.browser,
    giveBack(state) {
      if (!held) return
      held = false
      kept.leases--
      if (state === 'spoiled') retire(supply, kept)
      if (kept.retired && kept.leases === 0) void endOf(supply, kept)
    },
  }
}

/** No further job gets it; it is closed when the last of those under way has given it back. */
function retire(supply: Supply, kept: Kept): void {
  if (kept.retired) return
  kept.retired = true
  supply.current = undefined
  if (kept.leases === 0) void endOf(supply, kept)
}

/** Never rejects: a browser that cannot be ended is worth a line in the log, and nothing to whoever waits. */
function endOf(supply: Supply, kept: Kept): Promise<void> {
  kept.ended ??= kept.launched.end().then(
    () => void supply.kept.delete(kept),
    (error: unknown) => supply.log.warn({ event: 'browser_not_ended', error: describeError(error) }),
  )
  return kept.ended
}

async function close(supply: Supply): Promise<void> {
  supply.closing.abort()
  // One that is being started is waited for, or it would stay behind.
  await supply.current?.catch(() => undefined)
  await Promise.all([...supply.kept].map((kept) => endOf(supply, Object.assign(kept, { retired: true }))))
}

import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import puppeteer, { type Browser } from 'puppeteer'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { boundsArguments } from './browserArguments.ts'
import { createBrowserHome, removeBrowserHome } from './browserHome.ts'
import { type BrowserProcess, startBrowserProcess } from './browserProcess.ts'
import type { Chromium } from './chromium.ts'
import { createPipeTransport } from './pipeTransport.ts'
import { watchProcessors } from './processorShares.ts'
import { unprivileged } from './unprivileged.ts'

/** One way to run a browser here: which, as whom, and whether its own sandbox is on. */
export interface Recipe {
  readonly chromium: Chromium
  readonly mode: LaunchMode
}

/** Confinement of the browser process on this machine. */
export interface LaunchMode {
  /** Account `nobody`, for a service that runs as root. */
  readonly dropsRoot: boolean
  readonly sandboxed: boolean
}

export interface LaunchedBrowser {
  readonly browser: Browser
  /** Leaves no process and no file behind, however the browser is. */
  end(): Promise<void>
}

export interface BrowserLaunchOptions {
  readonly clock: Clock
  /** Restrictions that keep pages away from our network. */
  readonly guardArguments: readonly string[]
  /** Ends an attempt that is no longer needed. */
  readonly signal: AbortSignal
}

/** From the safest; each is tried, because no look at the system tells whether it allows it. */
export function launchModesHere(): readonly LaunchMode[] {
  const isRoot = process.getuid?.() === 0
  return [
    { dropsRoot: isRoot, sandboxed: true },
    { dropsRoot: isRoot, sandboxed: false },
    // No setpriv, or no right to use it.
    ...(isRoot ? [{ dropsRoot: false, sandboxed: false }] : []),
  ]
}

const launchTimeoutMs = 20_000
// Longer than a job may take; what hangs is ended by the deadline of its job.
const protocolTimeoutMs = 60_000
// Per process. Allocations by scripts have a separate limit (`browserArguments.ts`); a page of millions of elements or a
// large canvas fills other memory, up to the 4 GB that Chromium allows itself.
const dataKilobytesMax = 1_536 * 1024
// No port that another process could speak to, and a browser that ends when we are gone, also after kill -9.
const pipeArguments = ['--remote-debugging-pipe']

/**
 * Starts a browser without our environment in a temporary home. Throws a `Fault` with its last output when it does
 * not start.
 */
export async function launchBrowser(recipe: Recipe, options: BrowserLaunchOptions): Promise<LaunchedBrowser> {
  const home = await createBrowserHome()
  try {
    const started = await startBrowserProcess({
      ...(await commandFor(recipe, home, options.guardArguments)),
      // Our own environment is not passed on: it holds API keys.
      environment: {
        PATH: '/usr/bin:/bin',
        HOME: home,
        TMPDIR: home,
        TZ: 'UTC',
        // With C.UTF-8 pages read `en-US@posix` as their language, which is an invalid tag and breaks some of them.
        LANG: 'en_US.UTF-8',
        ...recipe.chromium.environment,
      },
      signal: options.signal,
    })
    const browser = await connect(started)
    const { stop } = watchProcessors(browser)
    const end = () => {
      stop()
      return endBrowser({ browser, started, home })
    }
    return { browser, end }
  } catch (error) {
    await removeBrowserHome(home)
    throw error
  }
}

/** The shell sets the limit, switches to `nobody` and replaces itself with the browser, so no shell process remains. */
async function commandFor({ chromium, mode }: Recipe, home: string, guardArguments: readonly string[]) {
  const profile = join(home, 'profile')
  await mkdir(profile)
  const { uid, gid } = unprivileged
  if (mode.dropsRoot) for (const folder of [home, profile]) await chown(folder, uid, gid)
  const become = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs']
  const browserArguments = await puppeteer.defaultArgs({
    headless: 'shell',
    userDataDir: profile,
    args: [...guardArguments, ...boundsArguments, ...pipeArguments, ...(mode.sandboxed ? [] : ['--no-sandbox'])],
  })
  return {
    // A script in the home could not be executed where /tmp is mounted noexec, as Docker does.
    program: '/bin/sh',
    arguments: [
      '-c',
      `ulimit -d ${dataKilobytesMax}; exec "$@"`,
      'sh',
      ...(mode.dropsRoot ? become : []),
      chromium.path,
      ...browserArguments,
    ],
  }
}

/** A browser that ends, or is silent for too long, rejects; no process remains. */
async function connect(started: BrowserProcess): Promise<Browser> {
  const late = setTimeout(started.kill, launchTimeoutMs)
  try {
    return await puppeteer.connect({
      transport: createPipeTransport(started),
      protocolTimeout: protocolTimeoutMs,
      defaultViewport: null,
    })
  } catch (error) {
    started.kill()
    throw new Fault(await started.ended, { cause: error, retryable: true })
  } finally {
    clearTimeout(late)
  }
}

interface Ending {
  readonly browser: Browser
  readonly started: BrowserProcess
  readonly home: string
}

/** The browser is killed: nothing of the profile is kept, and a busy browser takes seconds to close. */
async function endBrowser({ browser, started, home }: Ending): Promise<void> {
  started.kill()
  await started.ended
  await browser.disconnect()
  await removeBrowserHome(home)
}

import { chmod, chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import puppeteer, { type Browser } from 'puppeteer'
import type { Clock } from '@tollbook/core/clock'
import { boundsArguments } from './browserArguments.ts'
import { makeBrowserHome, removeBrowserHome } from './browserHome.ts'
import type { Chromium } from './chromium.ts'

/** One way to run a browser here: which, as whom, and whether its own sandbox is on. */
export interface Recipe {
  readonly chromium: Chromium
  readonly mode: LaunchMode
}

export interface LaunchMode {
  /** As `nobody`, for a service that runs as root. */
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
const closeTimeoutMs = 3_000
// Per process. Allocations by scripts have a separate limit (`browserArguments.ts`); a page of millions of elements or
// a
// large canvas fills other memory, up to the 4 GB that Chromium allows itself.
const dataKilobytesMax = 1_536 * 1024
// `nobody` on Linux.
const unprivileged = { uid: 65_534, gid: 65_534 }

export async function launchBrowser(recipe: Recipe, options: BrowserLaunchOptions): Promise<LaunchedBrowser> {
  const { chromium, mode } = recipe
  const { guardArguments, clock, signal } = options
  const home = await makeBrowserHome()
  try {
    const executablePath = await programFor(recipe, home)
    const browser = await puppeteer.launch({
      executablePath,
      headless: 'shell',
      // No port that another process could speak to, and a browser that ends when we are gone, also after kill -9.
      pipe: true,
      userDataDir: join(home, 'profile'),
      signal,
      timeout: launchTimeoutMs,
      protocolTimeout: protocolTimeoutMs,
      waitForInitialPage: false,
      defaultViewport: null,
      // The caller decides when to stop, and closes us.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      // Nothing of ours: our environment holds API keys.
      env: { PATH: '/usr/bin:/bin', HOME: home, TMPDIR: home, TZ: 'UTC', LANG: 'C.UTF-8', ...chromium.environment },
      args: [...guardArguments, ...boundsArguments, ...(mode.sandboxed ? [] : ['--no-sandbox'])],
    })
    return { browser, end: () => end({ browser, home, clock }) }
  } catch (error) {
    await removeBrowserHome(home)
    throw error
  }
}

/** Three lines of shell that set a limit, become `nobody`, and then by exec the browser: no process of a shell remains. */
async function programFor({ chromium, mode }: Recipe, home: string): Promise<string> {
  const profile = join(home, 'profile')
  await mkdir(profile)
  const { uid, gid } = unprivileged
  if (mode.dropsRoot) for (const folder of [home, profile]) await chown(folder, uid, gid)
  const become = mode.dropsRoot ? `setpriv --reuid=${uid} --regid=${gid} --clear-groups --no-new-privs ` : ''
  const program = join(home, 'chromium.sh')
  await writeFile(program, `#!/bin/sh\nulimit -d ${dataKilobytesMax}\nexec ${become}${quoted(chromium.path)} "$@"\n`)
  await chmod(program, 0o755)
  return program
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

interface Ending {
  readonly browser: Browser
  readonly home: string
  readonly clock: Clock
}

async function end({ browser, home, clock }: Ending): Promise<void> {
  const inTime = new AbortController()
  const closed = browser.close().catch(() => undefined)
  await Promise.race([closed, clock.sleep(closeTimeoutMs, inTime.signal).catch(() => undefined)])
  inTime.abort()
  killGroup(browser.process()?.pid)
  await closed
  await removeBrowserHome(home)
}

/** The browser is the first of its process group; its renderers are in it and must not outlive it. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // No process is left.
  }
}

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

export interface Recipe {
  readonly chromium: Chromium
  readonly mode: LaunchMode
}

export interface LaunchMode {
  /** True if the browser runs as `nobody`, because the service runs as root. */
  readonly dropsRoot: boolean
  readonly sandboxed: boolean
}

export interface LaunchedBrowser {
  readonly browser: Browser
  /** Kills the browser and removes its files, in any state of the browser. */
  end(): Promise<void>
}

export interface BrowserLaunchOptions {
  readonly clock: Clock
  readonly guardArguments: readonly string[]
  readonly signal: AbortSignal
}

/**
 * Returns the launch modes, the safest first. The caller tries them in turn, because the system does not report which
 * modes it allows.
 */
export function launchModesHere(): readonly LaunchMode[] {
  const isRoot = process.getuid?.() === 0
  return [
    { dropsRoot: isRoot, sandboxed: true },
    { dropsRoot: isRoot, sandboxed: false },
    // Fallback for a machine without setpriv, or without the right to use it.
    ...(isRoot ? [{ dropsRoot: false, sandboxed: false }] : []),
  ]
}

const launchTimeoutMs = 20_000
// Longer than the deadline of a job, so that the deadline ends a call that hangs.
const protocolTimeoutMs = 60_000
// Script memory has a separate limit (`browserArguments.ts`). Millions of elements or a large canvas use other memory.
const dataKilobytesMax = 1_536 * 1024
// Use a pipe, because it opens no port to other processes. The browser stops when the pipe closes, even after kill -9
// of the service.
const pipeArguments = ['--remote-debugging-pipe']

/** Starts a browser and connects to it. Throws a `Fault` with the browser's last output if the start fails. */
export async function launchBrowser(recipe: Recipe, options: BrowserLaunchOptions): Promise<LaunchedBrowser> {
  const home = await createBrowserHome()
  try {
    const started = await startBrowserProcess({
      ...(await commandFor(recipe, home, options.guardArguments)),
      // Do not pass on the environment of the service, because it contains API keys.
      environment: {
        PATH: '/usr/bin:/bin',
        HOME: home,
        TMPDIR: home,
        TZ: 'UTC',
        // Set the language, because with C.UTF-8 pages read `en-US@posix`, an invalid tag that breaks some pages.
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

/**
 * Returns the command that starts the browser. A shell sets the memory limit and replaces itself with the browser, so
 * that no shell process remains. If the service runs as root, the shell starts the browser through `setpriv` as an
 * unprivileged user.
 */
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
    // Docker mounts /tmp noexec, so a script in the home could not run.
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

/** Connects to the browser. Kills it and throws if it ends or is silent for too long. */
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

/** Kills the browser instead of closing it, because a busy browser takes seconds to close. */
async function endBrowser({ browser, started, home }: Ending): Promise<void> {
  started.kill()
  await started.ended
  await browser.disconnect()
  await removeBrowserHome(home)
}

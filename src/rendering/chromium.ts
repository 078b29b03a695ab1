import { constants } from 'node:fs'
import { access, realpath } from 'node:fs/promises'
import { Fault } from '@tollbook/core/fault'
import { unpackNpmChromium } from './npmChromium.ts'

/** A browser that may be there, and what it needs in its environment. */
export interface Chromium {
  readonly source: 'CHROMIUM_PATH' | 'puppeteer' | 'system' | 'npm'
  readonly path: string
  readonly environment: Readonly<Record<string, string>>
}

/*
 * Binaries and not the shell wrappers in /usr/bin: a wrapper that is killed leaves its browser behind (nine orphans
 * in one run). The headless shell first: it is smaller and has no background tabs that hang.
 */
const systemPaths = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/lib/chromium/headless_shell',
  '/usr/lib64/chromium-browser/headless_shell',
  '/usr/lib/chromium/chromium',
  '/usr/lib/chromium-browser/chromium-browser',
  '/usr/lib64/chromium-browser/chromium-browser',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** A path that the operator names has to be right; to take another browser in its place would hide the mistake. */
export async function checkChromiumPath(path: string | undefined): Promise<void> {
  if (path === undefined || (await isProgram(path))) return
  throw new Fault(`CHROMIUM_PATH names ${path}, and there is no program that may be run`, { retryable: false })
}

/** In the order of preference, each made ready only when those before it were no good. */
export async function* findChromiums(chromiumPath: string | undefined, signal: AbortSignal): AsyncGenerator<Chromium> {
  if (chromiumPath !== undefined) {
    yield { source: 'CHROMIUM_PATH', path: chromiumPath, environment: {} }
    return
  }
  const own = await puppeteersOwn()
  if (own !== undefined) yield { source: 'puppeteer', path: own, environment: {} }
  for (const path of systemPaths)
    if (await isProgram(path)) yield { source: 'system', path: await realpath(path), environment: {} }
  const unpacked = await unpackNpmChromium(signal)
  if (unpacked !== undefined) yield { source: 'npm', ...unpacked }
}

/** Browser that `npx puppeteer browsers install` has downloaded. */
async function puppeteersOwn(): Promise<string | undefined> {
  // Loaded late: 150 modules, which the process of the service needs only here, as root.
  const { default: puppeteer } = await import('puppeteer')
  for (const headless of ['shell', true] as const) {
    try {
      const path = await puppeteer.executablePath({ headless })
      if (await isProgram(path)) return path
    } catch {
      // It throws when it has downloaded nothing.
    }
  }
  return undefined
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

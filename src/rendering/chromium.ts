import { constants } from 'node:fs'
import { access, realpath } from 'node:fs/promises'
import { Fault } from '@tollbook/core/fault'
import { unpackNpmChromium } from './npmChromium.ts'

export interface Chromium {
  readonly source: 'CHROMIUM_PATH' | 'puppeteer' | 'system' | 'npm'
  readonly path: string
  readonly environment: Readonly<Record<string, string>>
}

/*
 * Binaries instead of the shell wrappers in /usr/bin, because a killed wrapper leaves its browser running. The headless
 * shell comes first, because it is smaller.
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

/** Throws if the path is not a program, because using another browser instead would hide the operator's mistake. */
export async function checkChromiumPath(path: string | undefined): Promise<void> {
  if (path === undefined || (await isProgram(path))) return
  throw new Fault(`CHROMIUM_PATH names ${path}, and there is no program that may be run`, { retryable: false })
}

/**
 * Finds the browsers in order of preference. The browser of the npm package comes last, because it must be unpacked
 * first.
 */
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

/** Finds the browser that `npx puppeteer browsers install` has downloaded. */
async function puppeteersOwn(): Promise<string | undefined> {
  // Import Puppeteer only when it is needed, because the service process usually does not use its many modules.
  const { default: puppeteer } = await import('puppeteer')
  for (const headless of ['shell', true] as const) {
    try {
      const path = await puppeteer.executablePath({ headless })
      if (await isProgram(path)) return path
    } catch {
      // `executablePath` throws if no browser was downloaded.
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

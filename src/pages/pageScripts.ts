import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const pages = ['home', 'pay', 'tab', 'burn', 'finance'] as const
export type PageName = (typeof pages)[number]
export type PageScripts = Readonly<Record<PageName, string>>

/** Only a published package contains this file: its scripts are bundled at build time. */
const built = new URL('pageScripts.json', import.meta.url)
const program = fileURLToPath(new URL('bundlePages.ts', import.meta.url))
const bytesMax = 16 * 1024 * 1024
const timeoutMs = 60_000

let scripts: Promise<PageScripts> | undefined

/** Returns the scripts of the pages. The first call reads or bundles them, because most instances never serve a page. */
export function readPageScripts(): Promise<PageScripts> {
  scripts ??= readBuiltScripts().catch((error: unknown) => {
    // Let the next caller retry, because the cause may be a temporary lack of memory or processes.
    scripts = undefined
    throw error
  })
  return scripts
}

async function readBuiltScripts(): Promise<PageScripts> {
  return existsSync(built) ? JSON.parse(await readFile(built, 'utf8')) : bundlePages()
}

async function bundlePages(): Promise<PageScripts> {
  // The environment of the service contains secrets, so pass an empty one.
  const options = { maxBuffer: bytesMax, timeout: timeoutMs, env: {} }
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...pages], options)
  return JSON.parse(stdout)
}

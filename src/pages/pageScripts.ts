import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const pages = ['home', 'pay', 'burn', 'finance'] as const
export type PageName = (typeof pages)[number]
export type PageScripts = Readonly<Record<PageName, string>>

const program = fileURLToPath(new URL('bundlePages.ts', import.meta.url))
const bytesMax = 16 * 1024 * 1024
const timeoutMs = 60_000

let scripts: Promise<PageScripts> | undefined

/** Returns the scripts of all pages. They are bundled for the first caller, because most instances never serve a page. */
export function readPageScripts(): Promise<PageScripts> {
  scripts ??= bundlePages().catch((error: unknown) => {
    // Let the next caller retry, because the cause may be a temporary lack of memory or processes.
    scripts = undefined
    throw error
  })
  return scripts
}

async function bundlePages(): Promise<PageScripts> {
  // Pass an empty environment, because the service's own contains secrets.
  const options = { maxBuffer: bytesMax, timeout: timeoutMs, env: {} }
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...pages], options)
  return JSON.parse(stdout)
}

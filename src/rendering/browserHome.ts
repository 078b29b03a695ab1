import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const prefix = 'tollbook-browser-'

/** Creates the folder for profile, temporary files and wrapper output of one browser. The caller must remove the folder. */
export function createBrowserHome(): Promise<string> {
  return mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`))
}

export async function removeBrowserHome(home: string): Promise<void> {
  // Retry, because a process that was just killed may still write.
  await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
}

/**
 * Removes the folders of processes that have ended. Skips the folders of other users, which this process may not
 * remove.
 */
export async function removeAbandonedHomes(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1])
    if (Number.isInteger(pid) && !isAlive(pid)) await removeBrowserHome(join(tmpdir(), name)).catch(() => undefined)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM means that the process exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

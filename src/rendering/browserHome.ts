import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const prefix = 'tollbook-browser-'

/** Creates the folder of one browser: its profile, its temporary files and the output of its wrapper. The caller removes it. */
export function createBrowserHome(): Promise<string> {
  return mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`))
}

/** Safe to call when the folder does not exist. */
export async function removeBrowserHome(home: string): Promise<void> {
  // A process that was killed a moment ago may still write.
  await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
}

/** Remains of a killed service. Those of another user are not ours to remove, and do not prevent the start. */
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
    // No permission to signal it: it is alive, and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

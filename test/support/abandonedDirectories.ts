import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { lockDirectory } from '@tollbook/localnet/directoryLock'
import { systemClock } from '@tollbook/core/clock'
import { temporaryPrefix } from './temporaryDirectory.ts'
import { temporaryFolder } from './temporaryFolder.ts'

/** A test run that was killed leaves its cluster, 40 MB. The next run removes it, unless a process uses it. */
export async function removeAbandonedDirectories(folder = temporaryFolder()): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(temporaryPrefix)) continue
    const path = join(folder, name)
    if (await isAbandoned(path)) await rm(path, { recursive: true, force: true })
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || systemClock.nowMs() - found.mtimeMs < abandonedAfterMs) return false
  try {
    lockDirectory(join(path, 'postgres')).release()
    return true
  } catch {
    return false
  }
}

/** Far longer than a run lasts: a test that has just killed an owner still needs what that owner left. */
const abandonedAfterMs = 3_600_000

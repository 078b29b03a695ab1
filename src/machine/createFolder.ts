import { mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { Fault } from '@tollbook/core/fault'

const onlyItsUser = 0o700

/**
 * Creates the last folder of a path. An existing folder keeps its permissions. Throws if the parent is missing: the
 * path is then mistyped or its disk is not mounted, and the files would fill another disk. `setting` is the variable or
 * option for the error message.
 */
export async function createFolder(path: string, setting: string): Promise<void> {
  const absolute = resolve(path)
  try {
    await mkdir(absolute, { mode: onlyItsUser })
  } catch (cause) {
    if (await isFolder(absolute)) return
    const parent = dirname(absolute)
    const problem = (await isFolder(parent))
      ? `${absolute} cannot be created: name a folder of this user`
      : `${parent} does not exist; create it, mount it or correct the path (got ${path})`
    throw new Fault(`${setting}: ${problem}`, { cause, retryable: false })
  }
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() === true
}

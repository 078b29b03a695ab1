import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from './fileError.ts'

/**
 * Creates the folder and its parents without the `recursive` option of Node. That option retries without end if the
 * system refuses a folder whose parent exists, for example below /proc. By default only the user may read the folder,
 * because anyone who reads a proof could use it.
 */
export async function makeFolder(path: string, mode = 0o700): Promise<void> {
  const failure = await tryMake(path, mode)
  if (failure === undefined) return
  const above = dirname(path)
  if (!hasCode(failure, 'ENOENT') || above === path) throw failure
  await makeFolder(above, mode)
  const again = await tryMake(path, mode)
  if (again !== undefined) throw again
}

/** Undefined if the folder exists now, otherwise the error. */
async function tryMake(path: string, mode: number): Promise<unknown> {
  try {
    await mkdir(path, { mode })
    return undefined
  } catch (error) {
    const found = await stat(path).catch(() => undefined)
    return found?.isDirectory() === true ? undefined : error
  }
}

import { access, constants, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Config } from '../config.ts'
import { type Check, failed, ok, type Result, skipped, warning } from './check.ts'

// An hour of artifacts at the limits of one caller, and the space to unpack a browser.
const freeBytesMin = 1024 ** 3

/** Checks of this machine, which need no connection. */
export function machineChecks(config: Config): readonly Check[] {
  const { checkpointFile } = config.seal
  const folder = config.products.artifacts.directory
  return [
    { name: 'artifact folder', run: () => checkFolder(folder) },
    {
      name: 'checkpoint file',
      run: () => (checkpointFile === undefined ? noFile : checkFolder(dirname(checkpointFile))),
    },
  ]
}

const noFile = warning(
  'CHECKPOINT_FILE is not set: a database that was restored from an old backup is not noticed at start',
  'set CHECKPOINT_FILE to a file outside the database, one for each instance',
)

async function checkFolder(folder: string | undefined): Promise<Result> {
  if (folder === undefined) return skipped('a bucket is used')
  try {
    await access(folder, constants.W_OK)
  } catch {
    return failed(`${folder} does not exist or cannot be written`, 'create it, owned by the user of the service')
  }
  const { bavail, bsize } = await statfs(folder)
  const freeBytes = bavail * bsize
  const detail = `${folder} is writable, ${(freeBytes / 1024 ** 3).toFixed(1)} GiB free`
  return freeBytes >= freeBytesMin ? ok(detail) : warning(detail, 'free 1 GiB at least')
}

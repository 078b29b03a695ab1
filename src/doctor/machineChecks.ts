import { existsSync } from 'node:fs'
import { access, constants, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Config } from '../config.ts'
import { type Check, failed, passed, type Result, skipped, warning } from './check.ts'

// Space for artifacts and for unpacking a browser.
const freeBytesMin = 1024 ** 3

/** Checks of this machine, which need no connection. */
export function machineChecks(config: Config): readonly Check[] {
  const { artifacts } = config.products
  const folder = artifacts.directory ?? 'artifacts'
  return [
    {
      name: 'artifact folder',
      run: () => (artifacts.s3 === undefined ? checkFolder(folder) : skipped('artifacts are stored in a bucket')),
    },
    { name: 'checkpoint folder', run: () => checkCheckpointFolder(config.seal.checkpointFile) },
  ]
}

function checkCheckpointFolder(file: string | undefined): Result | Promise<Result> {
  if (file !== undefined) return checkFolder(dirname(file))
  return warning(
    'CHECKPOINT_FILE is not set: a database that was restored from an old backup is not noticed at start',
    'set CHECKPOINT_FILE to a file outside the database, one for each instance',
  )
}

async function checkFolder(folder: string): Promise<Result> {
  const existing = nearestExisting(resolve(folder))
  try {
    // The dot fails on anything that is not a folder.
    await access(`${existing}/.`, constants.W_OK)
  } catch {
    return failed(`nothing can be written into ${existing}`, 'make it a folder of the user of the service')
  }
  const { bavail, bsize } = await statfs(existing)
  const freeBytes = bavail * bsize
  const detail = `${folder} can be written, ${(freeBytes / 1024 ** 3).toFixed(1)} GiB free`
  return freeBytes >= freeBytesMin ? passed(detail) : warning(detail, 'free 1 GiB at least')
}

/** The service creates a missing folder inside it. */
function nearestExisting(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestExisting(dirname(folder))
}

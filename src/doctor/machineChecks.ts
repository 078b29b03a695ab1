import { existsSync } from 'node:fs'
import { access, constants, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { Fault } from '@tollbook/core/fault'
import type { Config } from '../config.ts'
import { readConfiguredFile } from '../start/gateway/openGateway.ts'
import { requireFreePorts } from '../start/http/freePorts.ts'
import { type Check, failed, passed, type Result, skipped, warning } from './check.ts'
import { checkSigner } from './signerCheck.ts'

// Minimum number of free bytes in a checked folder. Artifacts and an unpacked browser may need the space of its disk.
const freeBytesMin = 1024 ** 3

export function machineChecks(config: Config): readonly Check[] {
  const { artifacts } = config.products
  const folder = artifacts.directory ?? 'artifacts'
  return [
    {
      name: 'artifact folder',
      run: () => (artifacts.s3 === undefined ? checkFolder(folder) : skipped('artifacts are stored in a bucket')),
    },
    { name: 'checkpoint folder', run: () => checkCheckpointFolder(config.seal.checkpointFile) },
    { name: 'signer', run: () => checkSigner(config.x402?.signer) },
    { name: 'products file', run: () => checkProductsFile(config) },
  ]
}

function checkProductsFile(config: Config): Result {
  try {
    const file = readConfiguredFile(config)
    return file === undefined
      ? skipped('PRODUCTS_FILE is not set')
      : passed(`${file.routes.length} routes without a mistake`)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return failed(error.message, 'correct the file or PRODUCTS_FILE')
  }
}

function checkCheckpointFolder(file: string | undefined): Result | Promise<Result> {
  if (file !== undefined) return checkExisting(dirname(file))
  return warning(
    'CHECKPOINT_FILE is not set: a database that was restored from an old backup is not noticed at start',
    'set CHECKPOINT_FILE to a file outside the database, one for each instance',
  )
}

/** The service creates this folder if it is missing, but not its parent. */
function checkFolder(folder: string): Promise<Result> {
  const absolute = resolve(folder)
  return checkExisting(folder, existsSync(absolute) ? absolute : dirname(absolute))
}

/** `existing` is the folder itself, or the folder in which it will be created. */
async function checkExisting(folder: string, existing = resolve(folder)): Promise<Result> {
  try {
    // Add `/.`, because access to this path fails for anything that is not a folder.
    await access(`${existing}/.`, constants.W_OK)
  } catch {
    return failed(
      `nothing can be written into ${existing}`,
      'create it for the user of the service, or correct the path',
    )
  }
  const { bavail, bsize } = await statfs(existing)
  const freeBytes = bavail * bsize
  const detail = `${folder} can be written, ${(freeBytes / 1024 ** 3).toFixed(1)} GiB free`
  return freeBytes >= freeBytesMin ? passed(detail) : warning(detail, 'free 1 GiB at least')
}

const unchecked =
  'nothing is configured: local mode starts its own database, chain and receipt key, which are not checked'

/** Returns the checks of local mode. They omit its database and chain, which exist only while it runs. */
export function localChecks(config: Config): readonly Check[] {
  return [
    { name: 'service', run: () => skipped(unchecked) },
    { name: 'home folder', run: () => checkHome(config.local.home) },
    { name: 'ports', run: () => checkPorts(config) },
  ]
}

function checkHome(home: string): Promise<Result> {
  let existing = resolve(home)
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing)
  return checkExisting(home, existing)
}

async function checkPorts(config: Config): Promise<Result> {
  try {
    await requireFreePorts(config)
    return passed('free')
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return warning(error.message, 'nothing to do if that process is this service')
  }
}

import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Fault } from '@tollbook/core/fault'
import type { Config } from '../config.ts'
import { requireFreePorts } from '../start/http/freePorts.ts'
import { type Check, passed, type Result, skipped, warning } from './check.ts'
import { checkExisting } from './machineChecks.ts'

const unchecked =
  'nothing is configured: local mode starts its own database, chain and receipt key, which are not checked'

/** Omits the database and the chain of local mode, which exist only while it runs. */
export function localChecks(config: Config): readonly Check[] {
  return [
    { name: 'service', run: () => skipped(unchecked) },
    { name: 'home folder', run: () => checkHome(config.local.home) },
    { name: 'ports', run: () => checkPorts(config) },
  ]
}

/** Checks that local mode can create its home and the folders above it. */
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

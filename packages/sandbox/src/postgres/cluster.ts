import { systemClock } from '@tollbook/core/clock'
import type { Log } from '@tollbook/localnet/log'
import type { Binaries } from './binaries.ts'
import { type Settings, writeConfiguration } from './configuration.ts'
import { inspectDataDirectory, settleDataDirectoryPath } from './dataDirectory.ts'
import { type DirectoryClaim, claimDirectory } from '@tollbook/localnet/directoryClaim'
import { settleEarlierPostmaster } from './earlierPostmaster.ts'
import { choosePort } from './freePort.ts'
import { readPassword } from './password.ts'
import { prepareDataDirectory } from './prepareDataDirectory.ts'
import { launchPostmaster } from './postmaster.ts'
import { supervisePostmaster } from './supervisor.ts'
import { type Footing, findFooting } from './footing.ts'
import { type Watchdog, startWatchdog } from './watchdog.ts'

export interface ClusterOptions {
  readonly binaries: Binaries
  readonly dataDirectory: string
  readonly port: number
  readonly settings: Settings
  readonly log: Log
  readonly onLost?: (error: Error) => void
}

export interface Cluster {
  readonly port: number
  readonly password: string
  /** A function, because a restart of the postmaster changes its process id. */
  readonly pid: () => number
  readonly stop: () => Promise<void>
  /** kill -9 without a restart. */
  readonly kill: () => Promise<void>
}

/**
 * Starts a supervised server on a data directory, which is created when it is missing. A failure releases everything that was
 * opened before it.
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const dataDirectory = await settleDataDirectoryPath(options.dataDirectory)
  const claim = await claimDirectory(dataDirectory)
  let watchdog: Watchdog | undefined
  try {
    const state = await inspectDataDirectory(dataDirectory, options.binaries.majorVersion)
    await settleEarlierPostmaster(dataDirectory, options.log)
    const footing = await findFooting({ binaries: options.binaries, dataDirectory, log: options.log })
    watchdog = startWatchdog(footing.account, options.log)
    const resources = { claim, footing, watchdog }
    await prepareDataDirectory(state, { dataDirectory, ...resources })
    return await startIn({ ...options, dataDirectory }, resources)
  } catch (error) {
    watchdog?.end()
    await claim.release()
    throw error
  }
}

interface ClusterResources {
  readonly claim: DirectoryClaim
  readonly footing: Footing
  readonly watchdog: Watchdog
}

async function startIn(options: ClusterOptions, resources: ClusterResources): Promise<Cluster> {
  const { dataDirectory, log } = options
  const password = await readPassword(dataDirectory)
  const port = await choosePort(options.port)
  const settingsFile = await writeConfiguration({ dataDirectory, port, settings: options.settings })
  const supervisor = await supervisePostmaster({
    launch: () => launchPostmaster({ dataDirectory, settingsFile, log, ...resources }),
    onLost: (error) => options.onLost?.(error),
    log,
    clock: systemClock,
  })
  log.info({
    event: 'embedded_postgres_ready',
    dataDirectory,
    port,
    postmasterPid: supervisor.pid(),
    account: resources.footing.account.name,
  })
  let stopped: Promise<void> | undefined
  return {
    port,
    password,
    pid: supervisor.pid,
    stop: () => (stopped ??= release(() => supervisor.stop(), resources)),
    kill: () => (stopped ??= release(() => supervisor.kill(), resources)),
  }
}

async function release(end: () => Promise<void>, resources: ClusterResources): Promise<void> {
  try {
    await end()
  } finally {
    resources.watchdog.end()
    await resources.claim.release()
  }
}

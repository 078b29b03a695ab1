import { readdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { randomToken } from '@tollbook/core/id'
import { findProcess } from './processTable.ts'

export interface DirectoryClaim {
  release(): Promise<void>
}

/**
 * Claims a data directory for one supervisor. Postgres itself refuses a second postmaster. Only the supervisor can
 * distinguish an orphan, which may be stopped, from the postmaster of another live supervisor.
 *
 * Each contender first writes its own file and then searches for others. A later contender finds the first. Two
 * simultaneous contenders find each other and both give up, so there are never two owners.
 *
 * The file's name contains all information (pid and start mark), so a claim is never half-written. A dead claim is
 * removed by its unique name. With one shared lock file, a live claim could be removed by mistake.
 */
export async function claimDirectory(dataDirectory: string): Promise<DirectoryClaim> {
  const self = assertPresent(await findProcess(process.pid), 'our own process is alive')
  const ownFile = `${dataDirectory}.owner-${self.pid}-${self.startMark}-${randomToken()}`
  await writeFile(ownFile, '', { flag: 'wx', mode: 0o600 })
  const rival = await findRival(dataDirectory, basename(ownFile))
  if (rival === undefined) return { release: () => rm(ownFile, { force: true }) }
  await rm(ownFile, { force: true })
  throw new Fault(
    `the data directory ${dataDirectory} is in use by process ${rival}: stop that one first, or set TOLLBOOK_HOME to another directory`,
    { retryable: false },
  )
}

/** Returns the pid of a live process that claims the same directory. Removes the claims of dead processes. */
async function findRival(dataDirectory: string, ownName: string): Promise<number | undefined> {
  const folder = dirname(dataDirectory)
  const prefix = `${basename(dataDirectory)}.owner-`
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix) || name === ownName) continue
    const [pidText = '', startMark = ''] = name.slice(prefix.length).split('-')
    const claimant = await findProcess(Number(pidText))
    if (claimant?.startMark === startMark) return claimant.pid
    await rm(join(folder, name), { force: true })
  }
  return undefined
}

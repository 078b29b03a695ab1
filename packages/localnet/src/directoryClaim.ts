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
 * One supervisor per data directory. Postgres itself refuses a second postmaster, but only the supervisor can tell an
 * orphan, which may be stopped, from the postmaster of another live supervisor.
 *
 * Each contender first writes its own file and then searches for others. The second contender sees the first, and two
 * simultaneous ones see each other and both give way, so there are never two owners. The file's name contains all
 * information (pid and start mark), so there is no half-written claim. A dead claim is removed by its unique name, so
 * the claim of a live process cannot be removed by mistake, which is the danger of one shared lock file.
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

/** The pid of a live process that claims the same directory. Clears away what the dead left. */
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

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
 * One supervisor per data directory. Postgres itself refuses a second postmaster, but only we can tell an orphan, which
 * may be stopped, from the postmaster of a colleague that is still alive.
 *
 * Each contender first writes a file of its own and then looks for others. Whoever comes second sees the first, and two
 * at the same instant see each other and both give way, so there are never two owners. All that matters stands in the
 * file's name (pid and start mark), so there is no half-written claim, and a dead one is removed by its unique name:
 * nobody can remove the claim of the living by mistake, which is the trap of one shared lock file.
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

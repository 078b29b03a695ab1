import { mkdir, readFile, readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { Fault } from '@tollbook/core/fault'
import { systemErrorCode } from './systemErrorCode.ts'

/*
 * Files next to the data directory, each prefixed with its name: `.password`, `.conf`, `.hba.conf`, `.owner-…` (its
 * user),
 * `.initialising` (while initdb runs), `.binaries-…` (only if npm's own cannot be used).
 */

/** One directory has one name, also when it is reached through a symbolic link. Makes the folder around it. */
export async function settleDataDirectoryPath(wanted: string): Promise<string> {
  const path = resolve(wanted)
  await mkdir(dirname(path), { recursive: true })
  const existing = await realpath(path).catch(() => undefined)
  return existing ?? join(await realpath(dirname(path)), basename(path))
}

export type DataDirectoryState = 'absent' | 'made'

/** Refuses what we must not touch, before anything is touched. */
export async function inspectDataDirectory(dataDirectory: string, majorVersion: string): Promise<DataDirectoryState> {
  if (process.getuid?.() !== 0) await refuseOtherOwner(dataDirectory)
  const version = await readFile(join(dataDirectory, 'PG_VERSION'), 'utf8').catch(() => undefined)
  if (version === undefined) {
    await refuseForeignFiles(dataDirectory)
    return 'absent'
  }
  refuseOtherVersion({ dataDirectory, found: version.trim(), ours: majorVersion })
  return 'made'
}

/** Postgres insists on owning its data, and an ordinary user cannot change who does. */
async function refuseOtherOwner(dataDirectory: string): Promise<void> {
  const found = await stat(dataDirectory).catch(() => undefined)
  if (found === undefined || found.uid === process.getuid?.()) return
  throw new Fault(
    `the data directory ${dataDirectory} belongs to user ${found.uid}, probably from a run as root: run as that user, or change the owner of it and of the files next to it to yours with chown -R`,
    { retryable: false },
  )
}

async function refuseForeignFiles(dataDirectory: string): Promise<void> {
  const names = await readdir(dataDirectory).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT') return []
    throw new Fault(`cannot read the data directory ${dataDirectory}`, { cause: error, retryable: false })
  })
  if (names.length === 0) return
  throw new Fault(`${dataDirectory} is neither empty nor a Postgres data directory: name another one`, {
    retryable: false,
  })
}

function refuseOtherVersion(versions: { dataDirectory: string; found: string; ours: string }): void {
  const { dataDirectory, found, ours } = versions
  if (found === ours) return
  throw new Fault(
    `the data directory ${dataDirectory} was made by Postgres ${found}, but this version of Tollbook brings Postgres ${ours}. To keep the data, go back to the version of Tollbook that made it, or set DATABASE_URL to a Postgres ${found} that serves it; to start afresh, move the directory away: mv ${dataDirectory} ${dataDirectory}.${found}`,
    { retryable: false },
  )
}

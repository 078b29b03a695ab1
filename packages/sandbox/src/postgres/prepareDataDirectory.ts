import { chown, lchown, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '@tollbook/core/fault'
import type { Owner } from './account.ts'
import type { DataDirectoryState } from './dataDirectory.ts'
import { createPassword, passwordFileOf } from './password.ts'
import { runCommand } from './runCommand.ts'
import type { Footing } from './footing.ts'
import type { Watchdog } from './watchdog.ts'

export interface PrepareOptions {
  readonly dataDirectory: string
  readonly footing: Footing
  readonly watchdog: Watchdog
}

/** Afterwards there is a cluster in it that belongs to the account that will run it. */
export async function prepareDataDirectory(state: DataDirectoryState, options: PrepareOptions): Promise<void> {
  const { owner } = options.footing.account
  if (state === 'absent') await initialise(options)
  else if (owner !== undefined) await changeOwner(owner, options.dataDirectory)
}

/** initdb works in a directory of another name: whatever kills it, there is never half a cluster under the real name. */
async function initialise(options: PrepareOptions): Promise<void> {
  const { dataDirectory, footing, watchdog } = options
  const unfinished = `${dataDirectory}.initialising`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { mode: 0o700 })
  const { owner } = footing.account
  if (owner !== undefined) await chown(unfinished, owner.uid, owner.gid)
  await createPassword(dataDirectory, owner)
  const result = await runCommand({
    account: footing.account,
    program: `${footing.binaries.directory}/bin/initdb`,
    arguments: ['-D', unfinished, `--pwfile=${passwordFileOf(dataDirectory)}`, ...initdbArguments],
    timeoutMs: initdbTimeoutMs,
    watchdog,
  })
  if (!result.succeeded) {
    throw new Fault(`initdb could not make the data directory ${dataDirectory}: ${result.output}`, { retryable: false })
  }
  await rename(unfinished, dataDirectory)
}

const initdbArguments = [
  '--username=postgres',
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  // Postgres's own C.UTF-8: sorts by code point on every machine and never changes with an update of libc or ICU.
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--locale=C',
  '--data-checksums',
  '--no-instructions',
]

/** 0.5 to 1 s as a rule; a slow disk deserves patience. */
const initdbTimeoutMs = 120_000

/** Root's account changes when the directories above are opened to others, or closed. */
async function changeOwner(owner: Owner, dataDirectory: string): Promise<void> {
  const { uid } = await stat(dataDirectory)
  if (uid === owner.uid) return
  const inside = await readdir(dataDirectory, { recursive: true })
  // The directory itself comes last: a start that was killed half-way then finds the old owner and does it again.
  for (const name of [...inside, '.']) await lchown(join(dataDirectory, name), owner.uid, owner.gid)
}

import { chown, readFile, rm, writeFile } from 'node:fs/promises'
import { Fault } from '@tollbook/core/fault'
import { randomToken } from '@tollbook/core/id'
import type { Owner } from './account.ts'

/*
 * The superuser's password is stored in one file next to the data directory, mode 0600, and nowhere else: never on a
 * command line (`ps` shows those to all users), never in a temporary file. initdb reads it from that file.
 */

export function passwordFileOf(dataDirectory: string): string {
  return `${dataDirectory}.password`
}

/** Makes the password of a new cluster, readable for the account that will run initdb and for root. */
export async function createPassword(dataDirectory: string, owner: Owner | undefined): Promise<void> {
  const file = passwordFileOf(dataDirectory)
  await rm(file, { force: true })
  await writeFile(file, randomToken(), { flag: 'wx', mode: 0o600 })
  if (owner !== undefined) await chown(file, owner.uid, owner.gid)
}

/** Throws a `Fault` when the file is lost: the data directory cannot be opened without it. */
export async function readPassword(dataDirectory: string): Promise<string> {
  const file = passwordFileOf(dataDirectory)
  const password = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Fault(
      `the data directory ${dataDirectory} has lost its password file ${file}: put it back, or move the data directory away to start afresh`,
      { cause, retryable: false },
    )
  })
  return password.trim()
}

import { chown, mkdir, readFile, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { Fault } from '@tollbook/core/fault'
import { randomToken } from '@tollbook/core/id'
import { type SystemUser, runAs } from './systemUser.ts'

/*
 * Files next to the data directory, whose names start with its name. `.password`: password of the superuser, mode 0600.
 * `.lock`: held by the running process. `.initialising-…`: directory in which initdb runs.
 */

/** Returns the real path, so that a symbolic link does not give the directory a second name. */
export async function resolveDataDirectory(wanted: string): Promise<string> {
  const path = resolve(wanted)
  await mkdir(dirname(path), { recursive: true })
  const existing = await realpath(path).catch(() => undefined)
  return existing ?? join(await realpath(dirname(path)), basename(path))
}

export interface PrepareOptions {
  readonly dataDirectory: string
  readonly account: SystemUser
  readonly binaries: string
}

/**
 * Creates a cluster if the directory is missing or empty. Throws if it has other content or belongs to another user.
 * Returns the superuser's password.
 */
export async function prepareDataDirectory(options: PrepareOptions): Promise<string> {
  const { dataDirectory, account } = options
  const names = await readdir(dataDirectory).catch(() => undefined)
  const owner = (await stat(dataDirectory).catch(() => undefined))?.uid
  if (owner === undefined || names?.length === 0) {
    await initialise(options)
  } else if (names?.includes('PG_VERSION') === false) {
    throw new Fault(`${dataDirectory} is neither empty nor a Postgres data directory: name another one`, {
      retryable: false,
    })
  } else if (owner !== account.uid) {
    throw new Fault(
      `the data directory ${dataDirectory} belongs to user ${owner}, and Postgres runs as user ${account.uid}: run as the user who made it, or change the owner with chown -R ${account.uid}`,
      { retryable: false },
    )
  }
  return readPassword(dataDirectory)
}

/**
 * Runs initdb in a temporary directory and renames it afterwards, so that the final path has no incomplete cluster if
 * the process is killed.
 */
async function initialise({ dataDirectory, account, binaries }: PrepareOptions): Promise<void> {
  const unfinished = `${dataDirectory}.initialising-`
  for (const name of await readdir(dirname(dataDirectory)))
    if (name.startsWith(basename(unfinished))) await rm(join(dirname(dataDirectory), name), { recursive: true })
  // Use a new name each time, because initdb of a killed start may still run, and removes its directory if it fails.
  const directory = `${unfinished}${randomToken()}`
  await mkdir(directory, { mode: 0o700 })
  await chown(directory, account.uid, account.gid)
  // Pass the password by file, because `ps` shows command lines to all users.
  const passwordFile = `${dataDirectory}.password`
  await rm(passwordFile, { force: true })
  await writeFile(passwordFile, randomToken(), { flag: 'wx', mode: 0o600 })
  await chown(passwordFile, account.uid, account.gid)
  const failure = await runAs(account, {
    program: `${binaries}/bin/initdb`,
    words: ['-D', directory, `--pwfile=${passwordFile}`, ...initdbOptions],
    timeoutMs: initdbTimeoutMs,
  })
  if (failure !== undefined) {
    throw new Fault(`initdb could not make the data directory ${dataDirectory}: ${failure}`, { retryable: false })
  }
  await rename(directory, dataDirectory)
}

const initdbOptions = [
  '--username=postgres',
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  // Use the built-in C.UTF-8 locale, because it sorts by code point on every machine, and an update of libc or ICU
  // never changes it.
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--locale=C',
  '--data-checksums',
  '--no-instructions',
]

/** Maximum duration of initdb, which usually takes about a second. The limit allows for a slow disk. */
const initdbTimeoutMs = 120_000

async function readPassword(dataDirectory: string): Promise<string> {
  const file = `${dataDirectory}.password`
  const password = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Fault(
      `the data directory ${dataDirectory} has lost its password file ${file}: put it back, or move the data directory away to start afresh`,
      { cause, retryable: false },
    )
  })
  return password.trim()
}

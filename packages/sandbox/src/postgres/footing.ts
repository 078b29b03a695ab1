import { dirname } from 'node:path'
import { Fault } from '@tollbook/core/fault'
import type { Log } from '@tollbook/localnet/log'
import type { Account } from './account.ts'
import { accountsToTry } from './accountsToTry.ts'
import { type Binaries, linkLibraries } from './binaries.ts'
import { copyBinaries } from './copyBinaries.ts'
import { runCommand } from './runCommand.ts'

/** Account that runs Postgres, and its binaries. Both have been tested, not guessed. */
export interface Footing {
  readonly account: Account
  readonly binaries: Binaries
}

export interface FootingOptions {
  readonly binaries: Binaries
  readonly dataDirectory: string
  readonly log: Log
}

/**
 * Finds the account that can run the programs here, by running them. Each account is tried with npm's binaries, and
 * else with a copy next to the data directory: for a repository below a closed directory, and for a node_modules that
 * is read-only and lacks the library links. An attempt costs one `postgres --version`, 5 ms, and detects problems
 * that mode bits do not show: access lists, noexec mounts, a missing glibc.
 */
export async function findFooting(options: FootingOptions): Promise<Footing> {
  const obstacles: string[] = []
  for (const account of await accountsToTry()) {
    const tried = await tryAccount(account, options)
    if (typeof tried !== 'string') {
      options.log.debug({
        event: 'embedded_postgres_footing',
        account: account.name,
        binaries: tried.binaries.directory,
      })
      return tried
    }
    obstacles.push(`as ${account.name}: ${tried}`)
  }
  throw new Fault(
    `the embedded Postgres cannot run here (${obstacles.join('; ')}). Run as an ordinary user that /etc/passwd knows, set TOLLBOOK_HOME to a directory that others may enter (chmod o+x), or set DATABASE_URL`,
    { retryable: false },
  )
}

/** Either a footing, or what stood in the way. */
async function tryAccount(account: Account, options: FootingOptions): Promise<Footing | string> {
  const entered = await runCommand({
    account,
    program: '/bin/sh',
    arguments: ['-c', 'id -un >/dev/null && cd "$1"', 'sh', dirname(options.dataDirectory)],
    timeoutMs: tryTimeoutMs,
  })
  if (!entered.succeeded) return entered.output
  const inPlace = await tryBinaries(account, options.binaries)
  if (typeof inPlace !== 'string') return inPlace
  const copy = await copyBinaries(options.binaries, `${options.dataDirectory}.binaries-${options.binaries.version}`)
  return tryBinaries(account, copy)
}

async function tryBinaries(account: Account, binaries: Binaries): Promise<Footing | string> {
  if (!(await linkLibraries(binaries))) return 'the library links are missing and the package directory is read-only'
  const program = `${binaries.directory}/bin/postgres`
  const ran = await runCommand({ account, program, arguments: ['--version'], timeoutMs: tryTimeoutMs })
  return ran.succeeded ? { account, binaries } : ran.output
}

const tryTimeoutMs = 10_000

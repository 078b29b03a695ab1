import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Fault } from '../../primitives/fault.ts'
import type { Log } from '../../primitives/log.ts'
import type { Account, Owner } from './account.ts'
import { type Binaries, copyBinaries, linkLibraries } from './binaries.ts'
import { runCommand } from './runCommand.ts'

/** Who runs Postgres, and from where. Both have been tried, not guessed. */
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
 * An ordinary user runs Postgres as is. Root must not; it becomes somebody else, in this order:
 *
 * 1. `nobody`, by setuid. Least power, and needs no tool and no new user. It fails where the way to the data directory
 *    is closed to others, as below a 0700 /root.
 * 2. A user namespace in which root appears as `nobody`. The same files, so a 0700 directory is no hindrance, and it is
 *    no longer root of the machine; but it can still touch what root owns, hence only second. Not possible in a chroot,
 *    in most containers, and on macOS.
 *
 * An ordinary user without a line in /etc/passwd (`docker run --user 12345`) needs the second way too: initdb insists on
 * a name.
 *
 * Each is tried with the binaries where npm put them, and else with a copy beside the data directory: for a repository
 * below a closed directory, and for a node_modules that is read-only and lacks the library links.
 * Trying costs one `postgres --version`, 5 ms, and sees what no look at mode bits does: ACLs, noexec, musl.
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
    `the embedded Postgres cannot run here (${obstacles.join('; ')}). Run as an ordinary user, set TOLLBOOK_HOME to a directory that others may enter (chmod o+x), or set DATABASE_URL`,
    { retryable: false },
  )
}

async function accountsToTry(): Promise<readonly Account[]> {
  const nobody = await readNobody()
  const prefix = ['unshare', '--user', `--map-user=${nobody.uid}`, `--map-group=${nobody.gid}`]
  if (process.getuid?.() === 0) {
    return [
      { name: 'nobody', owner: nobody, prefix: [], setsUid: true },
      { name: 'user namespace', owner: { uid: 0, gid: 0 }, prefix, setsUid: false },
    ]
  }
  return [
    { name: 'self', owner: undefined, prefix: [], setsUid: false },
    { name: 'user namespace', owner: undefined, prefix, setsUid: false },
  ]
}

/** Either a footing, or what stood in the way. */
async function tryAccount(account: Account, options: FootingOptions): Promise<Footing | string> {
  const entered = await runCommand({
    account,
    program: '/bin/sh',
    arguments: ['-c', 'id -un && cd "$1"', 'sh', dirname(options.dataDirectory)],
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

/** `nobody` is in every passwd file, with the number 65534 nearly everywhere (macOS: -2). */
async function readNobody(): Promise<Owner> {
  const passwd = await readFile('/etc/passwd', 'utf8')
  const match = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(passwd)
  return { uid: Number(match?.[1] ?? 65_534), gid: Number(match?.[2] ?? 65_534) }
}

const tryTimeoutMs = 10_000

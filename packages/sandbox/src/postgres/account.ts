import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'

/** Account under which the programs of Postgres run. They refuse to run as root. */
export interface Account {
  readonly name: 'self' | 'nobody' | 'user namespace' | 'the unprivileged user with a capability'
  /** Required owner of the data directory; undefined if it is the current user. */
  readonly owner: Owner | undefined
  /** Words before the command, such as `unshare …`. Empty for a plain start. */
  readonly prefix: readonly string[]
  /** Whether the process is started with the owner's uid and gid. */
  readonly setsUid: boolean
}

export interface Owner {
  readonly uid: number
  readonly gid: number
}

export interface Command {
  readonly program: string
  readonly arguments: readonly string[]
  readonly stdio: StdioOptions
  /** When the program is killed if it has not ended by itself; absent: never. */
  readonly timeoutMs?: number
}

/**
 * Always `detached`: a separate process group and session, so that Ctrl-C in the terminal reaches us and not Postgres,
 * which would otherwise shut down in the same millisecond, before our own requests have drained.
 * The working directory is `/` because the account need not be able to enter ours.
 */
export function spawnAs(account: Account, command: Command): ChildProcess {
  const [program = '', ...words] = [...account.prefix, command.program, ...command.arguments]
  const identity = account.setsUid && account.owner !== undefined ? account.owner : {}
  return spawn(program, words, {
    ...identity,
    cwd: '/',
    detached: true,
    env: environment,
    stdio: command.stdio,
    killSignal: 'SIGKILL',
    ...(command.timeoutMs === undefined ? {} : { timeout: command.timeoutMs }),
  })
}

/** Our own environment is not passed on: it holds API keys, and a stray LD_LIBRARY_PATH would give Postgres the wrong OpenSSL. */
const environment = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }

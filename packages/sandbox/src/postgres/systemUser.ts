import { type ChildProcess, type SpawnOptions, execFile, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { Fault, describeError } from '@tollbook/core/fault'

/** Postgres refuses to run as root, so another account runs its programs and owns the data. */
export interface SystemUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
  /** Command words in front of a program that switch to the account. Empty: the process is started with `uid` and `gid`. */
  readonly prefix: readonly string[]
}

/**
 * An ordinary user runs Postgres without a switch. Root switches to the unprivileged user. If that fails, this user
 * also gets the capability to enter closed directories (a 0700 /root, or one of `mktemp -d`). This attempt is the last,
 * because the process could then open every file of the machine or container.
 */
export async function accountsToTry(): Promise<readonly SystemUser[]> {
  const [uid = 0, gid = 0] = [process.getuid?.(), process.getgid?.()]
  if (uid !== 0) return [{ name: 'self', uid, gid, prefix: [] }]
  const nobody = await readNobody()
  const ids = [`--reuid=${nobody.uid}`, `--regid=${nobody.gid}`, '--clear-groups']
  const prefix = ['setpriv', ...ids, '--inh-caps=+dac_override', '--ambient-caps=+dac_override']
  return [
    { name: 'nobody', ...nobody, prefix: [] },
    { name: 'the unprivileged user with a capability', ...nobody, prefix },
  ]
}

/** Reads the number of the unprivileged user from the passwd file. It is usually 65534 (macOS: -2). */
async function readNobody(): Promise<{ readonly uid: number; readonly gid: number }> {
  const match = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(await readFile('/etc/passwd', 'utf8'))
  return { uid: Number(match?.[1] ?? 65_534), gid: Number(match?.[2] ?? 65_534) }
}

/**
 * Returns the first account that can run one program here. This trial detects obstacles that mode bits do not show:
 * access lists, noexec mounts, a missing glibc.
 */
export async function findAccount(binaries: string, dataDirectory: string): Promise<SystemUser> {
  const obstacles: string[] = []
  for (const account of await accountsToTry()) {
    const script = 'id -un >/dev/null && cd "$1" && "$2" --version'
    const words = ['-c', script, 'sh', dirname(dataDirectory), `${binaries}/bin/postgres`]
    const obstacle = await runAs(account, { program: '/bin/sh', words, timeoutMs: tryTimeoutMs })
    if (obstacle === undefined) return account
    obstacles.push(`as ${account.name}: ${obstacle}`)
  }
  throw new Fault(
    `the embedded Postgres cannot run here (${obstacles.join('; ')}). Run as an ordinary user that /etc/passwd knows, set TOLLBOOK_HOME to a directory that others may enter (chmod o+x), or set DATABASE_URL`,
    { retryable: false },
  )
}

const tryTimeoutMs = 10_000

interface Command {
  readonly program: string
  readonly words: readonly string[]
  readonly timeoutMs: number
}

/** Undefined on success, otherwise the reason with the program's error output. */
export async function runAs(account: SystemUser, { program, words, timeoutMs }: Command): Promise<string | undefined> {
  const [file = '', ...args] = [...account.prefix, program, ...words]
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL' } as const
  // Node also throws if root in a container cannot change its user ID (EPERM).
  return run(file, args, { ...startOptions(account), ...limits }).then(() => undefined, describeError)
}

const run = promisify(execFile)

/** Starts in `/`, because the account may be unable to enter the working directory. */
function startOptions({ uid, gid, prefix }: SystemUser): { readonly cwd: string; readonly env: NodeJS.ProcessEnv } {
  return { ...(prefix.length === 0 ? { uid, gid } : {}), cwd: '/', env: environment }
}

/**
 * In a separate session, Ctrl-C in the terminal does not reach Postgres. Otherwise Postgres would shut down at once,
 * before the open requests of this process have ended.
 */
export function spawnAs(account: SystemUser, command: readonly string[], options: SpawnOptions): ChildProcess {
  const [program = '', ...words] = [...account.prefix, ...command]
  return spawn(program, words, { ...startOptions(account), detached: true, ...options })
}

/**
 * Does not contain this process's variables: they include API keys, and an unrelated LD_LIBRARY_PATH would give
 * Postgres the wrong OpenSSL.
 */
const environment = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }

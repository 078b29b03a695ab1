import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, openSync, closeSync } from 'node:fs'

/** The Debian programs of the deployment, or what is missing. */
export type Programs =
  | { readonly found: true; readonly postgresDirectory: string }
  | { readonly found: false; readonly missing: string }

export function findPrograms(): Programs {
  const missing = ['patroni', 'etcd', 'haproxy', 'setpriv', 'unshare'].filter((name) => !isInstalled(name))
  const [postgresDirectory] = globSync('/usr/lib/postgresql/*/bin').toSorted().toReversed()
  if (postgresDirectory === undefined || !existsSync(`${postgresDirectory}/postgres`)) missing.push('postgresql')
  if (process.getuid?.() !== 0) missing.push('root, for a network namespace')
  if (missing.length > 0 || postgresDirectory === undefined) return { found: false, missing: missing.join(', ') }
  return { found: true, postgresDirectory }
}

function isInstalled(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0
}

export interface ProgramOptions {
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly logFile: string
}

/** A program of the deployment as the user `postgres`, with its output in a file. */
export function startProgram({ command, environment, logFile }: ProgramOptions): ChildProcess {
  const log = openSync(logFile, 'a')
  const words = ['--reuid=postgres', '--regid=postgres', '--init-groups', ...command]
  const child = spawn('setpriv', words, {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8', ...environment },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.on('error', (error) => process.stderr.write(`${error.message}\n`))
  return child
}

export async function killProgram(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { Fault } from '@tollbook/core/fault'
import type { Log } from '@tollbook/localnet/log'
import { spawnAs } from './account.ts'
import { poll } from './poll.ts'
import { readPostmasterFile } from './postmasterFile.ts'
import { shutDown } from './shutDown.ts'
import type { Footing } from './footing.ts'
import type { Watchdog } from './watchdog.ts'

/** One running server process. */
export interface Postmaster {
  readonly pid: number
  /** Settles when it has ended, with how; never rejects. */
  readonly ended: Promise<string>
  stop(): Promise<void>
}

export interface LaunchOptions {
  readonly dataDirectory: string
  readonly settingsFile: string
  readonly footing: Footing
  readonly watchdog: Watchdog
  readonly log: Log
}

/** Mark on the command line of each of our postmasters, by which an orphan is recognised. `ps` shows it too. */
export const clusterMark = 'cluster_name=tollbook'

/** Returns when it accepts connections. Throws a retryable fault if the obstacle may disappear without action. */
export async function launchPostmaster(options: LaunchOptions): Promise<Postmaster> {
  const { dataDirectory, footing, watchdog, log } = options
  const child = spawnAs(footing.account, {
    program: `${footing.binaries.directory}/bin/postgres`,
    arguments: ['-D', dataDirectory, '-c', `config_file=${options.settingsFile}`, '-c', clusterMark],
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const lifecycle = followLifecycle(child)
  const lastLines = forwardLog(child, log)
  const { pid } = child
  if (pid === undefined) throw new Fault(`Postgres ${await lifecycle.ended}`, { retryable: false })
  watchdog.guard(pid)
  void lifecycle.ended.then(() => watchdog.release(pid))
  const stop = (): Promise<void> =>
    shutDown({ pid, send: (signal) => child.kill(signal), hasEnded: () => lifecycle.end !== undefined, log })

  const answer = await poll({ probe: () => lifecycle.end ?? readiness(dataDirectory, pid), timeoutMs: startTimeoutMs })
  if (answer === 'ready') return { pid, ended: lifecycle.ended, stop }
  if (answer === undefined) await stop()
  await poll({ probe: () => lifecycle.isClosed || undefined, timeoutMs: lastWordsTimeoutMs })
  throw startFault(answer ?? `was not ready within ${startTimeoutMs} ms`, lastLines)
}

/** Recovery after a crash counts, and replays as much as one checkpoint interval wrote. */
const startTimeoutMs = 120_000
const lastWordsTimeoutMs = 500

/** The status line is what `pg_ctl --wait` reads: no connection, no password, no line in the log. */
async function readiness(dataDirectory: string, pid: number): Promise<'ready' | undefined> {
  const file = await readPostmasterFile(dataDirectory)
  return file?.pid === pid && file.status === 'ready' ? 'ready' : undefined
}

interface Lifecycle {
  readonly ended: Promise<string>
  end: string | undefined
  isClosed: boolean
}

function followLifecycle(child: ChildProcess): Lifecycle {
  const { promise: ended, resolve } = Promise.withResolvers<string>()
  const lifecycle: Lifecycle = { ended, end: undefined, isClosed: false }
  const finish = (how: string): void => {
    lifecycle.end = how
    resolve(how)
  }
  child.once('error', (error) => finish(`could not be started: ${error.message}`))
  child.once('exit', (code, signal) => finish(`ended with ${signal ?? `exit code ${code}`}`))
  child.once('close', () => {
    lifecycle.isClosed = true
  })
  return lifecycle
}

function startFault(what: string, lastLines: readonly string[]): Fault {
  const said = lastLines.join(' / ')
  return new Fault(`Postgres ${what}: ${said}`, { retryable: transientObstacle.test(said) })
}

/** Backends of a postmaster that was killed a moment ago go within milliseconds; a port in TIME_WAIT takes longer. */
const transientObstacle = /pre-existing shared memory block|could not bind|Address already in use/

/** Postgres's log becomes ours. Returns its last lines, which grow as it speaks. */
function forwardLog(child: ChildProcess, log: Log): readonly string[] {
  const lastLines: string[] = []
  if (child.stderr === null) return lastLines
  createInterface({ input: child.stderr }).on('line', (line) => {
    lastLines.push(line)
    if (lastLines.length > lastLinesMax) lastLines.shift()
    const level = /^(FATAL|PANIC):/.test(line) ? 'warn' : 'debug'
    log[level]({ event: 'embedded_postgres_said', line })
  })
  return lastLines
}

const lastLinesMax = 12

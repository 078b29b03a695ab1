import type { ChildProcess } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { errorCode, Fault } from '@tollbook/core/fault'
import type { Log } from '@tollbook/localnet/log'
import { type SystemUser, spawnAs } from './systemUser.ts'
import { findCommandLine } from './processTable.ts'

export interface Postmaster {
  readonly pid: number
  /** Resolves with the reason when the process has ended. Never rejects. */
  readonly ended: Promise<string>
  stop(): Promise<void>
}

export interface LaunchOptions {
  readonly dataDirectory: string
  readonly account: SystemUser
  readonly binaries: string
  readonly settings: Readonly<Record<string, string>>
  readonly log: Log
}

/** Identifies an orphaned postmaster of Tollbook by its command line, also in the output of `ps`. */
const clusterMark = 'cluster_name=tollbook'

/**
 * Resolves when the server accepts connections. Throws a retryable fault if the obstacle may disappear without
 * intervention.
 */
export async function launchPostmaster(options: LaunchOptions): Promise<Postmaster> {
  const { dataDirectory, account, binaries, log } = options
  const settings = Object.entries(options.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const command = [`${binaries}/bin/postgres`, '-D', dataDirectory, '-c', clusterMark, ...settings]
  const child = spawnAs(account, command, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`))
    child.once('exit', (code, signal) => resolve(`ended with ${signal ?? `exit code ${code}`}`))
  })
  const { pid } = child
  if (pid === undefined) throw new Fault(`Postgres ${await ended}`, { retryable: false })
  const watchdog = startWatchdog(account, pid)
  void ended.then(() => watchdog.kill('SIGKILL'))
  const stop = () => shutDown({ pid, ended, log })
  const { lastLines, ready, closed } = forwardLog(child, log)
  if ((await firstWithin(startTimeoutMs, [ready, ended])) === 'ready') return { pid, ended, stop }
  await stop()
  await firstWithin(lastWordsTimeoutMs, [closed])
  const said = lastLines.join(' / ')
  throw new Fault(`Postgres ${await ended} before it was ready: ${said}`, { retryable: transientObstacle.test(said) })
}

/** Includes recovery after a crash. */
const startTimeoutMs = 120_000
const lastWordsTimeoutMs = 500

/** Obstacles that disappear: the backends of a killed postmaster end, and a port in TIME_WAIT becomes free. */
const transientObstacle = /pre-existing shared memory block|could not bind|Address already in use/

/** `ready` resolves at the log line that reports that connections are accepted. */
function forwardLog(child: ChildProcess, log: Log) {
  const lastLines: string[] = []
  const { promise: ready, resolve } = Promise.withResolvers<'ready'>()
  const closed = new Promise<'closed'>((close) => child.once('close', () => close('closed')))
  const input = assertPresent(child.stderr, 'stderr is a pipe')
  createInterface({ input }).on('line', (line) => {
    if (/^LOG: +database system is ready to accept/.test(line)) resolve('ready')
    lastLines.push(line)
    if (lastLines.length > lastLinesMax) lastLines.shift()
    const level = /^(FATAL|PANIC):/.test(line) ? 'warn' : 'debug'
    log[level]({ event: 'embedded_postgres_said', line })
  })
  return { lastLines, ready, closed }
}

const lastLinesMax = 12

/**
 * Ends the server when this process ends, also by `kill -9`, which runs no handler. The kernel then closes the pipe
 * from which the shell reads, and the shell sends SIGINT, the fast shutdown of Postgres.
 */
function startWatchdog(account: SystemUser, pid: number): ChildProcess {
  const command = ['/bin/sh', '-c', 'read -r line; kill -INT "$1"', 'sh', String(pid)]
  return spawnAs(account, command, { stdio: ['pipe', 'ignore', 'ignore'] }).on('error', () => undefined)
}

/**
 * Ends a postmaster of Tollbook that still runs in the directory. Because the caller has the lock, that postmaster has
 * lost its owner. Throws if another Postgres runs there.
 */
export async function endEarlierPostmaster(dataDirectory: string, log: Log): Promise<void> {
  const file = join(dataDirectory, 'postmaster.pid')
  const [pidText = ''] = (await readFile(file, 'utf8').catch(() => '')).split('\n')
  const pid = Math.abs(Number(pidText))
  const commandLine = await findCommandLine(pid)
  if (commandLine === undefined || !`${commandLine} `.includes(` ${dataDirectory} `)) {
    // Remove the file, because Postgres would not start if a zombie or a new process has this process ID. There is
    // another protection: running backends hold a shared memory segment whose key is the directory's inode.
    await rm(file, { force: true })
    return
  }
  if (!commandLine.includes(clusterMark)) {
    throw new Fault(`a Postgres that Tollbook did not start (process ${pid}) runs in ${dataDirectory}: stop it first`, {
      retryable: false,
    })
  }
  log.warn({ event: 'embedded_postgres_orphan_found', postmasterPid: pid, dataDirectory })
  await shutDown({ pid, ended: endOf(pid, commandLine), log })
}

/** The process is not a child of this process, so its end must be polled. */
async function endOf(pid: number, commandLine: string): Promise<string> {
  for (let poll = 1; poll <= pollsMax && (await findCommandLine(pid)) === commandLine; poll++) {
    await systemClock.sleep(pollEveryMs)
  }
  return 'ended'
}

const pollEveryMs = 5
/** One minute, which is longer than all steps of a shutdown. */
const pollsMax = 12_000

interface ShutDownOptions {
  readonly pid: number
  readonly ended: Promise<string>
  readonly log: Log
}

/** Sends up to three signals, each of which preserves committed data. Throws if the process still runs. */
async function shutDown({ pid, ended, log }: ShutDownOptions): Promise<void> {
  if ((await firstWithin(0, [ended])) !== undefined) return
  for (const { signal, waitMs } of shutDownSteps) {
    sendSignal(pid, signal)
    if ((await firstWithin(waitMs, [ended])) !== undefined) return
    log.warn({ event: 'embedded_postgres_slow_shutdown', postmasterPid: pid, signal, waitMs })
  }
  throw new Fault(`Postgres (process ${pid}) does not end, not even by SIGKILL`, { retryable: false })
}

async function firstWithin<T>(timeoutMs: number, outcomes: readonly Promise<T>[]): Promise<T | undefined> {
  const settled = new AbortController()
  const late = systemClock.sleep(timeoutMs, settled.signal).then(() => undefined)
  try {
    return await Promise.race([...outcomes, late])
  } finally {
    settled.abort()
  }
}

/** Ignores ESRCH, because the process may end between the check and the signal. */
function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error
  }
}

const shutDownSteps = [
  // Fast shutdown: ends the sessions and writes a checkpoint.
  { signal: 'SIGINT', waitMs: 20_000 },
  // Immediate shutdown without a checkpoint, so the next start runs recovery. After 5 s the postmaster kills its
  // remaining children.
  { signal: 'SIGQUIT', waitMs: 8_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
] as const

import { execFile } from 'node:child_process'
import { readFile, readlink } from 'node:fs/promises'
import { promisify } from 'node:util'

export interface LiveProcess {
  readonly pid: number
  /** Start time as the system writes it. The system reuses pids, but not a pid with the same start time. */
  readonly startMark: string
  readonly commandLine: string
  /** Undefined if the system does not report it: on macOS, or for another user's process. */
  readonly workingDirectory: string | undefined
}

/**
 * Undefined if no such process runs. A zombie counts as ended, because it holds no resources. `kill -0` still finds a
 * zombie, and PID 1 of a container may take 20 s to reap it.
 */
export async function findProcess(pid: number): Promise<LiveProcess | undefined> {
  return process.platform === 'linux' ? findInProc(pid) : findWithPs(pid)
}

async function findInProc(pid: number): Promise<LiveProcess | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(absent)
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(absent)
  if (stat === undefined || commandLine === undefined) return undefined
  // proc(5): the second field is the name in parentheses and may contain any character, so count from the last
  // parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state = 'X'] = fields
  if (state === 'Z' || state === 'X') return undefined
  return {
    pid,
    startMark: fields[startTimeIndex] ?? '',
    commandLine: commandLine.replaceAll('\0', ' ').trim(),
    workingDirectory: await readlink(`/proc/${pid}/cwd`).catch(absent),
  }
}

/** Index of proc(5) field 22, counted from field 3. */
const startTimeIndex = 19

async function findWithPs(pid: number): Promise<LiveProcess | undefined> {
  const options = { env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/bin:/usr/bin' }, timeout: psTimeoutMs }
  const listed = await run('ps', ['-p', String(pid), '-o', 'state=,lstart=,command='], options).catch(absent)
  const match = psLine.exec(listed?.stdout.trim() ?? '')
  if (match === null) return undefined
  const [, state = 'Z', startedAt = '', commandLine = ''] = match
  if (state.startsWith('Z')) return undefined
  return { pid, startMark: startedAt.replaceAll(/[^A-Za-z0-9]/g, ''), commandLine, workingDirectory: undefined }
}

const run = promisify(execFile)
const psTimeoutMs = 5_000
/** State, then a start time of five words (`Sat Nov 21 14:08:37 2026`), then the command line. */
const psLine = /^(\S+)\s+((?:\S+\s+){5})(.*)$/

function absent(): undefined {
  return undefined
}

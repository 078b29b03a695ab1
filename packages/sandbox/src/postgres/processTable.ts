import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/**
 * Undefined if the process has ended. On Linux a zombie has no command line and counts as ended, because it holds no
 * resources. `kill -0` still finds a zombie.
 */
export async function findCommandLine(pid: number): Promise<string | undefined> {
  const commandLine = process.platform === 'linux' ? await readInProc(pid) : await readWithPs(pid)
  return commandLine === '' ? undefined : commandLine
}

async function readInProc(pid: number): Promise<string> {
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return words.replaceAll('\0', ' ').trim()
}

async function readWithPs(pid: number): Promise<string> {
  const options = { env: { LC_ALL: 'C', PATH: '/bin:/usr/bin' }, timeout: psTimeoutMs }
  const listed = await run('ps', ['-p', String(pid), '-o', 'command='], options).catch(() => ({ stdout: '' }))
  return listed.stdout.trim()
}

const run = promisify(execFile)
const psTimeoutMs = 5_000

import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { findCommandLine } from '@tollbook/sandbox/postgres/processTable'
import { assert, assertPresent } from '@tollbook/core/assert'
import { afterFile } from '../../support/afterFile.ts'
import { awaitThat } from '../../support/awaitThat.ts'

/** Another process that owns an embedded Postgres. */
export interface Owner {
  readonly pid: number
  readonly adminUrl: string
  readonly postmasterPid: number
  /** The next line that it writes. */
  readonly nextLine: () => Promise<string>
  readonly kill: (signal: NodeJS.Signals) => void
  /** Returns when it has ended. */
  readonly ended: Promise<void>
}

export interface OwnerOptions {
  readonly dataDirectory: string
  /** Location of the package with the binaries, if not in node_modules. */
  readonly packageDirectory?: string
  readonly uid?: number
  readonly umask?: string
}

export const ownerProgram = fileURLToPath(new URL('ownerProcess.ts', import.meta.url))

/** In a separate process group, as a terminal would start it. Stopped after the test file at the latest. */
export async function startOwner(options: OwnerOptions): Promise<Owner> {
  const { dataDirectory, packageDirectory = '', uid, umask = '022' } = options
  const words = [umask, process.execPath, ownerProgram, dataDirectory, packageDirectory]
  const child = spawn('/bin/sh', ['-c', 'umask "$1"; shift; exec "$@"', 'sh', ...words], {
    ...(uid === undefined ? {} : { uid, gid: uid }),
    detached: true,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  afterFile(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const nextLine = lineReader(child)
  const { adminUrl, postmasterPid } = readFacts(await nextLine())
  const pid = assertPresent(child.pid, 'a process that speaks has a pid')
  return { pid, adminUrl, postmasterPid, nextLine, kill: (signal) => child.kill(signal), ended }
}

/** Returns when no such process runs any more. */
export async function awaitEndOf(pid: number): Promise<void> {
  await awaitThat(`process ${pid} has ended`, async () => (await findCommandLine(pid)) === undefined)
}

export async function childrenOf(pid: number): Promise<readonly number[]> {
  const listed = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return listed.trim().split(' ').map(Number)
}

function lineReader(child: ChildProcess): () => Promise<string> {
  const output = assertPresent(child.stdout, 'stdout is a pipe')
  const lines = createInterface({ input: output })[Symbol.asyncIterator]()
  return async () => {
    const { value, done } = await lines.next()
    assert(done !== true, 'the owner says something before it ends')
    return value
  }
}

function readFacts(line: string): { adminUrl: string; postmasterPid: number } {
  const facts: { adminUrl: string; postmasterPid: number } = JSON.parse(line)
  return facts
}

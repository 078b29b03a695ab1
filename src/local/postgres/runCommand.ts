import type { ChildProcess } from 'node:child_process'
import { systemClock } from '../../primitives/clock.ts'
import { type Account, spawnAs } from './account.ts'
import type { Watchdog } from './watchdog.ts'

export interface RunOptions {
  readonly account: Account
  readonly program: string
  readonly arguments: readonly string[]
  readonly timeoutMs: number
  /** Ends the program when we end before it. */
  readonly watchdog?: Watchdog
}

export interface RunResult {
  readonly succeeded: boolean
  /** The end of what it wrote, or why it could not be started. */
  readonly output: string
}

/** Runs a short program to its end. Never throws: the caller knows whether a failure is one. */
export async function runCommand(options: RunOptions): Promise<RunResult> {
  const child = spawnAs(options.account, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  if (child.pid !== undefined) options.watchdog?.guard(child.pid)
  const output = collectOutput(child)
  const overdue = new AbortController()
  const result = await Promise.race([endOf(child, output), timeOut(options.timeoutMs, overdue.signal)])
  overdue.abort()
  if (child.pid !== undefined) options.watchdog?.release(child.pid)
  if (result !== undefined) return result
  child.kill('SIGKILL')
  return { succeeded: false, output: `${options.program} did not end within ${options.timeoutMs} ms` }
}

function endOf(child: ChildProcess, output: () => string): Promise<RunResult> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ succeeded: false, output: error.message }))
    child.once('close', (code, signal) =>
      resolve({ succeeded: code === 0, output: output() || `ended with ${signal ?? `exit code ${code}`}` }),
    )
  })
}

async function timeOut(timeoutMs: number, cancelled: AbortSignal): Promise<undefined> {
  await systemClock.sleep(timeoutMs, cancelled).catch(() => undefined)
}

/** Only the end is kept: what went wrong stands there. */
function collectOutput(child: ChildProcess): () => string {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text = (text + chunk).slice(-outputCharactersMax)
    })
  }
  return () => text.trim()
}

const outputCharactersMax = 4_000

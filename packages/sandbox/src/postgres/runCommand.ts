import type { ChildProcess } from 'node:child_process'
import { describeError } from '@tollbook/core/fault'
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
  let child: ChildProcess
  try {
    child = spawnAs(options.account, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    // Node throws EPERM at once, when root in a container has lost the right to change its uid.
    return { succeeded: false, output: describeError(error) }
  }
  const { pid } = child
  if (pid !== undefined) options.watchdog?.guard(pid)
  const result = await resultOf(child)
  if (pid !== undefined) options.watchdog?.release(pid)
  return result
}

function resultOf(child: ChildProcess): Promise<RunResult> {
  const output = collectOutput(child)
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ succeeded: false, output: error.message }))
    child.once('close', (code, signal) =>
      resolve({ succeeded: code === 0, output: output() || `ended with ${signal ?? `exit code ${code}`}` }),
    )
  })
}

/** Only the end is stored: it contains the error. */
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

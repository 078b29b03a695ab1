import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { assert } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'

export interface BrowserProcess {
  readonly commands: Writable
  readonly answers: Readable
  /** The text contains the exit status and the last output of the process. */
  readonly ended: Promise<string>
  /** Kills the renderers too. Does nothing if the process has already ended. */
  kill(): void
}

export interface BrowserProcessOptions {
  readonly program: string
  readonly arguments: readonly string[]
  /** No other variables are inherited. */
  readonly environment: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

// File descriptors that Chromium uses with --remote-debugging-pipe.
const commandsDescriptor = 3
const answersDescriptor = 4
// Enough for the reason of a failed start, while Chromium can write without limit.
const lastWordsLengthMax = 2_000

/**
 * Starts a browser process. Rejects if the start fails. For some causes, such as EACCES or ENOENT, Node emits `error`,
 * which would end the service without a listener.
 */
export async function startBrowserProcess(options: BrowserProcessOptions): Promise<BrowserProcess> {
  const { program, environment, signal } = options
  signal.throwIfAborted()
  const child = spawn(program, options.arguments, {
    env: { ...environment },
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
  })
  const commands = child.stdio[commandsDescriptor]
  const answers = child.stdio[answersDescriptor]
  // Ignore broken pipes: a process can end at any time, and `ended` reports it.
  for (const emitter of [child, child.stderr, commands, answers]) emitter?.on('error', () => undefined)
  const lastWords = collectLastOutput(child.stderr)
  const exited = once(child, 'exit')
  // A failed start rejects this promise too, and the `spawn` wait below reports the failure.
  exited.catch(() => undefined)
  try {
    await once(child, 'spawn')
  } catch (error) {
    throw new Fault(`${program} could not be started`, { cause: error, retryable: true })
  }
  assert(commands instanceof Writable && answers instanceof Readable, 'a started browser has its pipes')
  const kill = (): void => killGroup(child.pid)
  signal.addEventListener('abort', kill, { once: true })
  if (signal.aborted) kill()
  const ended = exited.then(async ([code, killedBy]: unknown[]) => {
    signal.removeEventListener('abort', kill)
    // Wait two turns of the event loop, because Node can report the exit before it has read the last output.
    await nextTurn()
    await nextTurn()
    return `the browser ended with ${String(killedBy ?? code)}${lastWords()}`
  })
  return { commands, answers, ended, kill }
}

export function collectLastOutput(stderr: Readable | null): () => string {
  let words = ''
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-lastWordsLengthMax)
  })
  return () => (words.trim() === '' ? '' : `: ${words.trim()}`)
}

/** Kills the whole process group, because the renderers must not outlive the browser. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Ignore the error: the process group has already ended.
  }
}

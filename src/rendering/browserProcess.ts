import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { assert } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'

/** A running browser with its DevTools pipe. */
export interface BrowserProcess {
  /** Commands to the browser. */
  readonly commands: Writable
  /** Its answers and events. */
  readonly answers: Readable
  /** Resolves after the process has ended, with its status and its last words. */
  readonly ended: Promise<string>
  /** Ends the browser and its renderers; without effect after the end. */
  kill(): void
}

export interface BrowserProcessOptions {
  readonly program: string
  readonly arguments: readonly string[]
  /** The whole environment of the process. */
  readonly environment: Readonly<Record<string, string>>
  /** Ends the process when it is aborted. */
  readonly signal: AbortSignal
}

// File descriptors that Chromium uses with --remote-debugging-pipe.
const commandsDescriptor = 3
const answersDescriptor = 4
// Enough for the reason of a failed start; Chromium can write without end.
const lastWordsLengthMax = 2_000

/**
 * Starts the browser in its own process group. A failure to start rejects, also when Node reports it later: for
 * EACCES, EAGAIN, EMFILE and ENOENT it emits `error`, which ends the whole process if nothing listens. Puppeteer's own
 * launcher does not listen.
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
  // A process that ends breaks its pipes at any time; `ended` reports that.
  for (const emitter of [child, child.stderr, commands, answers]) emitter?.on('error', () => undefined)
  const lastWords = collectLastOutput(child.stderr)
  const exited = once(child, 'exit')
  // A failure to start ends here, and in `spawned`.
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
    // Node can report the exit before it has read what was written until then. Its next turn reads that.
    await nextTurn()
    await nextTurn()
    return `the browser ended with ${String(killedBy ?? code)}${lastWords()}`
  })
  return { commands, answers, ended, kill }
}

/** The end of what a process writes to its standard error. */
export function collectLastOutput(stderr: Readable | null): () => string {
  let words = ''
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-lastWordsLengthMax)
  })
  return () => (words.trim() === '' ? '' : `: ${words.trim()}`)
}

/** The browser is the first of its process group; its renderers are in it and must not outlive it. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // No process is left.
  }
}

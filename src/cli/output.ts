import { Writable } from 'node:stream'
import { describeError, Fault } from '@tollbook/core/fault'
import type { CommandDeps } from './commandDeps.ts'
import { interruptedExitCode } from './runCommand.ts'

export interface Output {
  /** Resolves when the next chunk may be written, so that a slow reader slows the output down. */
  write(chunk: string | Uint8Array): Promise<void>
  /** Resolves when everything is written. A file appears under its name only then. */
  finish(): Promise<void>
  abandon(): Promise<void>
}

/**
 * Thrown when the reader has closed the pipe early, as `head` does. An early close is not a failure and is not
 * reported.
 */
class ReaderGone extends Error {
  override readonly name = 'ReaderGone'
}

/** Returns the exit code of a command that Ctrl-C or its reader has interrupted. Undefined for any other error. */
export function brokenOffExitCode(error: unknown, interrupted: AbortSignal): number | undefined {
  if (interrupted.aborted) return interruptedExitCode
  return error instanceof ReaderGone ? 0 : undefined
}

/**
 * Opens standard output. The reader of the pipe determines the speed. By closing the pipe, the reader ends the output,
 * as Ctrl-C does.
 */
export function openStandardOutput({ stdout, interrupted }: Pick<CommandDeps, 'stdout' | 'interrupted'>): Output {
  const done = () => Promise.resolve()
  if (!(stdout instanceof Writable))
    return { write: (chunk) => Promise.resolve(void stdout.write(textOf(chunk))), finish: done, abandon: done }
  // Ignore the event, because each write reports its own failure. Without a listener, the event would end the process.
  stdout.on('error', () => undefined)
  return { write: (chunk) => handOver(stdout, chunk, interrupted), finish: done, abandon: done }
}

function textOf(chunk: string | Uint8Array): string {
  return typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk)
}

/** Waits until the system accepts the chunk, so that no rows are read before the reader needs them. */
function handOver(stream: Writable, chunk: string | Uint8Array, interrupted: AbortSignal): Promise<void> {
  interrupted.throwIfAborted()
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error('interrupted', { cause: interrupted.reason }))
    interrupted.addEventListener('abort', stop, { once: true })
    stream.write(chunk, (error) => {
      interrupted.removeEventListener('abort', stop)
      if (error === undefined || error === null) resolve()
      else reject(failureOf(error))
    })
  })
}

function failureOf(error: NodeJS.ErrnoException): Error {
  if (error.code === 'EPIPE') return new ReaderGone('the reader has closed the pipe', { cause: error })
  return new Fault(`standard output cannot be written: ${describeError(error)}`, { cause: error, retryable: false })
}

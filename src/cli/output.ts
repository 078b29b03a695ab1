import { Writable } from 'node:stream'
import { describeError, Fault } from '@tollbook/core/fault'
import type { CommandDeps } from './commandDeps.ts'

/** Destination of a long answer, piece by piece. */
export interface Output {
  /** Resolves when the next piece may be written. */
  write(chunk: string | Uint8Array): Promise<void>
  /** Resolves when all of it has been written; a file appears under its name only now. */
  finish(): Promise<void>
  /** Leaves nothing behind. */
  abandon(): Promise<void>
}

/** The reader has enough, as `head` does: this is not a failure, and there is no one to report it to. */
class ReaderGone extends Error {
  override readonly name = 'ReaderGone'
}

const interruptedExitCode = 130

/** Exit code of a command whose answer was interrupted by Ctrl-C or by its reader; undefined otherwise. */
export function brokenOffExitCode(error: unknown, interrupted: AbortSignal): number | undefined {
  if (interrupted.aborted) return interruptedExitCode
  return error instanceof ReaderGone ? 0 : undefined
}

/** The reader at the end of the pipe decides the speed and the end; Ctrl-C ends it too. */
export function openStandardOutput({ stdout, interrupted }: Pick<CommandDeps, 'stdout' | 'interrupted'>): Output {
  if (stdout instanceof Writable) return openStream(stdout, interrupted)
  return {
    write: (chunk) => Promise.resolve(void stdout.write(String(chunk))),
    finish: () => Promise.resolve(),
    abandon: () => Promise.resolve(),
  }
}

function openStream(stream: Writable, interrupted: AbortSignal): Output {
  // Each failure is reported by its write; without a listener it would also end the process.
  stream.on('error', () => undefined)
  return {
    write: (chunk) => handOver({ stream, chunk, interrupted }),
    finish: () => Promise.resolve(),
    abandon: () => Promise.resolve(),
  }
}

interface Handed {
  readonly stream: Writable
  readonly chunk: string | Uint8Array
  readonly interrupted: AbortSignal
}

/** Waits until the system has taken it: nothing is made, and nothing read from the database, for a reader who is not there. */
function handOver({ stream, chunk, interrupted }: Handed): Promise<void> {
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

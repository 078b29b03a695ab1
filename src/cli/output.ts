import { Writable } from 'node:stream'
import { describeError, Fault } from '@tollbook/core/fault'
import type { CommandDeps } from './commandDeps.ts'

/** Where a long answer goes, piece by piece. */
export interface Output {
  /** Comes back when the next piece may be given. */
  write(chunk: string | Uint8Array): Promise<void>
  /** Comes back when all of it has been taken; a file is there under its name only now. */
  finish(): Promise<void>
  /** Leaves nothing behind. */
  abandon(): Promise<void>
}

/** Whoever read has seen enough, as `head` has: no failure, and nobody is left to tell. */
class ReaderGone extends Error {
  override readonly name = 'ReaderGone'
}

const interruptedExitCode = 130

/** How a command ends whose answer was broken off by Ctrl-C or by its reader; undefined when it was neither. */
export function brokenOffExitCode(error: unknown, interrupted: AbortSignal): number | undefined {
  if (interrupted.aborted) return interruptedExitCode
  return error instanceof ReaderGone ? 0 : undefined
}

/** Whoever reads at the end of the pipe decides how fast it goes, and when it is enough; so does Ctrl-C. */
export function openStandardOutput({ stdout, interrupted }: Pick<CommandDeps, 'stdout' | 'interrupted'>): Output {
  if (stdout instanceof Writable) return openStream(stdout, interrupted)
  return {
    write: (chunk) => Promise.resolve(void stdout.write(String(chunk))),
    finish: () => Promise.resolve(),
    abandon: () => Promise.resolve(),
  }
}

function openStream(stream: Writable, interrupted: AbortSignal): Output {
  // Each failure is told by the write that it was of; without a listener it would end the process besides.
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
  if (error.code === 'EPIPE') return new ReaderGone('nobody reads any more', { cause: error })
  return new Fault(`standard output cannot be written: ${describeError(error)}`, { cause: error, retryable: false })
}

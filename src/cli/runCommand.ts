import { errorCode, errorText, Fault } from '@tollbook/core/fault'
import type { CommandDeps } from './commandDeps.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

export const usageExitCode = 2
/** Exit code of a refused command. The same command would be refused again. */
export const refusedExitCode = 4
/** Exit code when the database or the chain did not answer. The same command may succeed later. */
export const unavailableExitCode = 7

// 128 plus the number of SIGINT, as shells report a program that Ctrl-C ended.
export const interruptedExitCode = 130

/**
 * Exit codes for a command that does not use the defaults: 4 if the command is refused, and 7 if something is
 * unavailable.
 */
export interface FaultCodes {
  readonly refused?: number
  readonly unavailable?: number
}

/**
 * Runs the work, and returns the exit code. Wrong usage and faults are printed as a message. Bugs are thrown, because
 * only a bug needs its stack. After Ctrl-C, any other error is taken for the end of the interrupted work.
 */
export async function exitCodeOf(
  { stderr, interrupted }: Pick<CommandDeps, 'stderr' | 'interrupted'>,
  work: () => Promise<number>,
  { refused = refusedExitCode, unavailable = unavailableExitCode }: FaultCodes = {},
): Promise<number> {
  try {
    return await work()
  } catch (error) {
    const isExplained = error instanceof UsageProblem || error instanceof Fault
    if (!isExplained && interrupted.aborted) return interruptedExitCode
    if (!isExplained) throw error
    stderr.write(`${errorText(error)}\n`)
    if (error instanceof UsageProblem) return usageExitCode
    // A login without a right would be refused again.
    return error.retryable && errorCode(error) !== '42501' ? unavailable : refused
  }
}

/**
 * Runs the work with a resource, and sets the exit code. Closes the resource in any case, because an open pool would
 * keep the process alive.
 */
export async function runWith<Part extends { close(): Promise<unknown> }>(
  deps: CommandDeps,
  open: () => Promise<Part>,
  work: (part: Part) => Promise<number>,
): Promise<void> {
  const code = await exitCodeOf(deps, async () => {
    const part = await open()
    try {
      return await work(part)
    } finally {
      await part.close()
    }
  })
  deps.setExitCode(code)
}

/** Prints a result: `words` for a terminal, and `json` as one line for a program. */
export function printResult({ stdout }: Pick<CommandDeps, 'stdout'>, json: object, words: string): void {
  stdout.write(stdout.isTTY === true ? `${words}\n` : `${JSON.stringify(json)}\n`)
}

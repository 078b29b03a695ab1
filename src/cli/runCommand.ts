import { errorText, Fault } from '@tollbook/core/fault'
import type { CommandDeps } from './commandDeps.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

/** The command was used wrongly. */
export const usageExitCode = 2
/** The command was refused, and repeating it changes nothing. */
export const refusedExitCode = 4
/** The database or the chain did not answer: the same command may succeed later. */
export const unavailableExitCode = 7

/** Exit codes of faults, where a command has others. */
export interface FaultCodes {
  readonly refused?: number
  readonly unavailable?: number
}

/** Does the work of a command. Wrong usage and faults become a message and an exit code, and a bug is thrown. */
export async function exitCodeOf(
  { stderr }: Pick<CommandDeps, 'stderr'>,
  work: () => Promise<number>,
  { refused = refusedExitCode, unavailable = unavailableExitCode }: FaultCodes = {},
): Promise<number> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof UsageProblem || error instanceof Fault)) throw error
    stderr.write(`${errorText(error)}\n`)
    if (error instanceof UsageProblem) return usageExitCode
    return error.retryable ? unavailable : refused
  }
}

/** The same with a part that is closed in any case. */
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

/** Prints words for a person at a terminal, and one line of JSON for a program. */
export function printResult({ stdout }: Pick<CommandDeps, 'stdout'>, json: object, words: string): void {
  stdout.write(stdout.isTTY === true ? `${words}\n` : `${JSON.stringify(json)}\n`)
}

import { errorText, Fault } from '@tollbook/core/fault'
import { UsageProblem } from '@tollbook/client/command/usageProblem'
import { usageExitCode } from './runCommand.ts'

/** Prints the error and sets the exit code. `written` is called when the message is written. */
export function reportFailure(error: unknown, written?: () => void): void {
  process.exitCode = error instanceof UsageProblem ? usageExitCode : 1
  process.stderr.write(`${failureText(error)}\n`, written)
}

/** Prints the error and ends the process, because a failed start may have left a timer or connection open. */
export function endAfterFailure(error: unknown): void {
  reportFailure(error, () => process.exit())
}

/** Returns a text without the stack for a problem that an operator can fix, and the stack for any other error. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error instanceof Fault || error instanceof UsageProblem || isAboutFile(error)
    ? errorText(error)
    : (error.stack ?? error.message)
}

/** True for a system error with a path. It is about a file that the operator chose, such as the file in `--output`. */
function isAboutFile(error: Error): boolean {
  return 'syscall' in error && 'path' in error
}

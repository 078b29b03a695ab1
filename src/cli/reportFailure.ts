import { errorText, Fault } from '@tollbook/core/fault'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

/** Prints an error. A problem that an operator can fix is printed as text, and only a bug with its stack. */
export function reportFailure(error: unknown): void {
  process.stderr.write(`${failureText(error)}\n`)
  process.exitCode = 1
}

/** Prints the error and ends the process, because a failed start may have left a timer or connection open. */
export function endAfterFailure(error: unknown): void {
  process.exitCode = 1
  process.stderr.write(`${failureText(error)}\n`, () => process.exit())
}

export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error instanceof Fault || error instanceof UsageProblem || isAboutFile(error)
    ? errorText(error)
    : (error.stack ?? error.message)
}

/** True for a system error with a path, such as an error of the file in `--output`. */
function isAboutFile(error: Error): boolean {
  return 'syscall' in error && 'path' in error
}

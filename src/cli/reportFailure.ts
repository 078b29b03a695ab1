import { errorText, Fault } from '@tollbook/core/fault'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

/** Prints a problem that an operator can fix as text. Prints a stack only for bugs. */
export function reportFailure(error: unknown): void {
  process.stderr.write(`${failureText(error)}\n`)
  process.exitCode = 1
}

/** Reports the failure and ends the process, because a failed start may have left a timer or connection open. */
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

/** True for a system error that names a path, such as that of `--output`. */
function isAboutFile(error: Error): boolean {
  return 'syscall' in error && 'path' in error
}

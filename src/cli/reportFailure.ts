import { errorText, Fault } from '@tollbook/core/fault'

/** Problems that an operator can fix are printed as text; a stack is for bugs. */
export function reportFailure(error: unknown): void {
  process.stderr.write(`${failureText(error)}\n`)
  process.exitCode = 1
}

/** Also ends the process: a start that failed may have left a timer or a connection that would hold it. */
export function endAfterFailure(error: unknown): void {
  process.exitCode = 1
  process.stderr.write(`${failureText(error)}\n`, () => process.exit())
}

export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error instanceof Fault || isAboutFile(error) ? errorText(error) : (error.stack ?? error.message)
}

/** An error of the system that names a path, such as that of `--output`. */
function isAboutFile(error: Error): boolean {
  return 'syscall' in error && 'path' in error
}

import { errorText, Fault } from '@tollbook/core/fault'

/** Problems that an operator can fix are printed as text; a stack is for bugs. */
export function reportFailure(error: unknown): void {
  const text = error instanceof Fault ? errorText(error) : String(error instanceof Error ? error.stack : error)
  process.stderr.write(`${text}\n`)
  process.exitCode = 1
}

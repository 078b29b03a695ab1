import { Fault } from '@tollbook/core/fault'

/** What an operator can mend is said in words; a stack is for what only we can mend. */
export function reportFailure(error: unknown): void {
  const text = error instanceof Fault ? error.message : String(error instanceof Error ? error.stack : error)
  process.stderr.write(`${text}\n`)
  process.exitCode = 1
}

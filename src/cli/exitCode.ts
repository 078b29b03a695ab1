import type { Fault } from '@tollbook/core/fault'
import { UsageProblem, usageExitCode } from './usageProblem.ts'

/** The command was refused, and repeating it changes nothing. */
export const refusedExitCode = 4
/** The database or the chain did not answer: the same command may succeed later. */
export const unavailableExitCode = 7

/** Distinguishes wrong usage, a refusal and a failure that a retry may solve. */
export function exitCodeOf(error: UsageProblem | Fault): number {
  if (error instanceof UsageProblem) return usageExitCode
  return error.retryable ? unavailableExitCode : refusedExitCode
}

import { z } from 'zod'
import { tokenPrograms } from '@tollbook/core/programs'
import type { TransactionFailure } from '../payment/transactionRecord.ts'
import type { InstructionJson } from './transactionJson.ts'

const instructionError = z.object({ InstructionError: z.tuple([z.int(), z.unknown()]) })
const customError = z.object({ Custom: z.int() })

// Code of the error TokenError::InsufficientFunds in both token programs.
const insufficientFunds = 1

/** Reads the error's JSON and never log lines. Undefined if the transaction succeeded. */
export function failureOf(
  error: unknown,
  { keys, instructions }: { readonly keys: readonly string[]; readonly instructions: readonly InstructionJson[] },
): TransactionFailure | undefined {
  if (error === null || error === undefined) return undefined
  const text = JSON.stringify(error)
  const failed = instructionError.safeParse(error)
  if (!failed.success) return { text, insufficientFunds: false }
  const [index, cause] = failed.data.InstructionError
  const custom = customError.safeParse(cause)
  const program = keys[instructions[index]?.programIdIndex ?? -1]
  const short =
    custom.success && custom.data.Custom === insufficientFunds && program !== undefined && tokenPrograms.has(program)
  return { text, insufficientFunds: short }
}

import {
  FailedTransactionMetadata,
  InstructionErrorBorshIo,
  InstructionErrorCustom,
  type InnerInstruction as SvmInnerInstruction,
  TransactionErrorDuplicateInstruction,
  TransactionErrorInstructionError,
  TransactionErrorInsufficientFundsForRent,
  TransactionErrorProgramExecutionTemporarilyRestricted,
  type TransactionMetadata,
} from 'litesvm/dist/internal.js'
import { assertPresent } from '@tollbook/core/assert'
import type { CompiledInstruction } from './chainTransaction.ts'
import type { TransactionError } from './transactionError.ts'

export interface InnerInstruction extends CompiledInstruction {
  /** Depth of the call. Top-level instructions have 1, so an inner instruction has at least 2. */
  readonly stackHeight: number
}

/** Instructions that a top-level instruction called. `index` is the index of the top-level instruction. */
export interface InnerInstructions {
  readonly index: number
  readonly instructions: readonly InnerInstruction[]
}

export interface ReturnData {
  readonly program: Uint8Array
  readonly data: Uint8Array
}

/** Plain data that does not depend on litesvm. */
export interface ExecutionOutcome {
  readonly error: TransactionError | null
  readonly logs: readonly string[]
  readonly innerInstructions: readonly InnerInstructions[]
  readonly unitsConsumed: bigint
  readonly returnData: ReturnData | undefined
}

export function outcomeOf(result: TransactionMetadata | FailedTransactionMetadata): ExecutionOutcome {
  const failed = result instanceof FailedTransactionMetadata
  const metadata = failed ? result.meta() : result
  const returned = metadata.returnData()
  return {
    error: failed ? transactionErrorOf(result) : null,
    logs: metadata.logs(),
    innerInstructions: innerInstructionsOf(metadata.innerInstructions()),
    unitsConsumed: metadata.computeUnitsConsumed(),
    // litesvm represents missing return data as zero bytes returned by the system program.
    returnData: returned.data().length === 0 ? undefined : { program: returned.programId(), data: returned.data() },
  }
}

/** Omits top-level instructions without calls, as nodes do. */
function innerInstructionsOf(lists: readonly (readonly SvmInnerInstruction[])[]): InnerInstructions[] {
  return lists
    .map((list, index) => ({ index, instructions: list.map(innerInstructionOf) }))
    .filter(({ instructions }) => instructions.length > 0)
}

function innerInstructionOf(inner: SvmInnerInstruction): InnerInstruction {
  const instruction = inner.instruction()
  return {
    programIndex: instruction.programIdIndex(),
    accountIndexes: instruction.accounts(),
    data: instruction.data(),
    stackHeight: inner.stackHeight(),
  }
}

/** Reads the names of some errors from the text, because litesvm has a class only for errors with fields. */
function transactionErrorOf(failed: FailedTransactionMetadata): TransactionError {
  const error = failed.err()
  if (error instanceof TransactionErrorInstructionError) {
    const inner = error.err()
    if (inner instanceof InstructionErrorCustom) return { InstructionError: [error.index, { Custom: inner.code }] }
    if (inner instanceof InstructionErrorBorshIo)
      return { InstructionError: [error.index, { BorshIoError: inner.msg }] }
    return { InstructionError: [error.index, nameIn(failed, /\berr: InstructionError\(\d+, (\w+)\)/)] }
  }
  if (error instanceof TransactionErrorDuplicateInstruction) return { DuplicateInstruction: error.index }
  if (error instanceof TransactionErrorInsufficientFundsForRent) {
    return { InsufficientFundsForRent: { account_index: error.accountIndex } }
  }
  if (error instanceof TransactionErrorProgramExecutionTemporarilyRestricted) {
    return { ProgramExecutionTemporarilyRestricted: { account_index: error.accountIndex } }
  }
  return nameIn(failed, /\berr: (\w+)/)
}

/**
 * Returns the name of an error in the text `FailedTransactionMetadata { err: NAME, meta: … }`. The name precedes
 * everything that a program can write, such as logs.
 */
function nameIn(failed: FailedTransactionMetadata, pattern: RegExp): string {
  return assertPresent(pattern.exec(failed.toString())?.[1], "litesvm's error has a name")
}

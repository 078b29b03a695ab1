import { expect, test } from 'vitest'
import { describeTransactionError } from '@tollbook/localnet/transactionError'

test.each([
  ['BlockhashNotFound', 'Blockhash not found'],
  ['InsufficientFundsForFee', 'Insufficient funds for fee'],
  ['AlreadyProcessed', 'This transaction has already been processed'],
  [{ InstructionError: [2, { Custom: 255 }] as const }, 'Error processing Instruction 2: custom program error: 0xff'],
  [
    { InstructionError: [0, 'InvalidAccountData'] as const },
    'Error processing Instruction 0: invalid account data for instruction',
  ],
  [
    { InstructionError: [1, 'NotEnoughAccountKeys'] as const },
    'Error processing Instruction 1: insufficient account keys for instruction',
  ],
  [
    { InstructionError: [0, 'InvalidInstructionData'] as const },
    'Error processing Instruction 0: invalid instruction data',
  ],
  [
    { InstructionError: [0, { BorshIoError: 'end' }] as const },
    'Error processing Instruction 0: Failed to serialize or deserialize account data: end',
  ],
  [{ DuplicateInstruction: 3 }, 'Transaction contains a duplicate instruction (3) that is not allowed'],
  [
    { ProgramExecutionTemporarilyRestricted: { account_index: 4 } },
    'Execution of the program referenced by account at index 4 is temporarily restricted.',
  ],
])('%j is described as a node does', (error, text) => {
  expect(describeTransactionError(error)).toBe(text)
})
